-- The first schema. Times and ticks are microseconds since 1970 (BIGINT); 9223372036854775807 stands for "still".

CREATE TABLE profiles (
    namespace  TEXT COLLATE "C"   NOT NULL,
    profile    TEXT COLLATE "C"   NOT NULL,
    created_at BIGINT NOT NULL,
    last_tick  BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile)
);

CREATE TABLE sessions (
    namespace  TEXT COLLATE "C"   NOT NULL,
    profile    TEXT COLLATE "C"   NOT NULL,
    session    TEXT COLLATE "C"   NOT NULL,
    title      TEXT COLLATE "C",
    status     TEXT COLLATE "C"   NOT NULL,
    tags       TEXT COLLATE "C"   NOT NULL,
    metadata   TEXT COLLATE "C"   NOT NULL,
    turns      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at   BIGINT,
    PRIMARY KEY (namespace, profile, session)
);
CREATE INDEX sessions_by_activity ON sessions (namespace, profile, updated_at, session);

CREATE TABLE turns (
    namespace    TEXT COLLATE "C"   NOT NULL,
    profile      TEXT COLLATE "C"   NOT NULL,
    session      TEXT COLLATE "C"   NOT NULL,
    seq          BIGINT NOT NULL,
    tick         BIGINT NOT NULL,
    role         TEXT COLLATE "C"   NOT NULL,
    author       TEXT COLLATE "C",
    channel      TEXT COLLATE "C"   NOT NULL,
    client       TEXT COLLATE "C",
    content_type TEXT COLLATE "C",
    external_id  TEXT COLLATE "C",
    content      TEXT COLLATE "C"   NOT NULL,
    metadata     TEXT COLLATE "C",
    state_delta  TEXT COLLATE "C",
    state_removed TEXT COLLATE "C",
    embedding    BYTEA,
    said_at      BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile, session, seq)
);
CREATE UNIQUE INDEX turns_by_tick ON turns (namespace, profile, tick);
CREATE INDEX turns_by_channel ON turns (namespace, profile, session, channel, seq);
CREATE UNIQUE INDEX turns_by_external_id ON turns (namespace, profile, session, external_id)
    WHERE external_id IS NOT NULL;

-- One row a state document: that of a session, of the user level (session '') or of the app level (session '').
CREATE TABLE state_heads (
    namespace TEXT COLLATE "C"   NOT NULL,
    profile   TEXT COLLATE "C"   NOT NULL,
    level     TEXT COLLATE "C"   NOT NULL,
    session   TEXT COLLATE "C"   NOT NULL,
    revision  BIGINT NOT NULL,
    bytes     BIGINT NOT NULL,
    keys      BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile, level, session)
);

-- Every value that a key had. A removed key ends in a row without a value.
CREATE TABLE state_values (
    namespace   TEXT COLLATE "C"   NOT NULL,
    profile     TEXT COLLATE "C"   NOT NULL,
    level       TEXT COLLATE "C"   NOT NULL,
    session     TEXT COLLATE "C"   NOT NULL,
    key         TEXT COLLATE "C"   NOT NULL,
    from_tick   BIGINT NOT NULL,
    to_tick     BIGINT NOT NULL,
    value       BYTEA,
    source_tick BIGINT,
    PRIMARY KEY (namespace, profile, level, session, key, from_tick)
);
CREATE INDEX state_values_open ON state_values (namespace, profile, level, session, to_tick, key);
CREATE INDEX state_values_by_tick ON state_values (namespace, profile, from_tick);

-- What is stated, once an id.
CREATE TABLE memories (
    namespace TEXT COLLATE "C" NOT NULL,
    profile   TEXT COLLATE "C" NOT NULL,
    id        TEXT COLLATE "C" NOT NULL,
    subject   TEXT COLLATE "C",
    key       TEXT COLLATE "C",
    value     TEXT COLLATE "C",
    text      TEXT COLLATE "C" NOT NULL,
    metadata  TEXT COLLATE "C",
    PRIMARY KEY (namespace, profile, id)
);

-- When it was known to hold: known in [from_tick, to_tick), true in the world in [valid_from, valid_to).
CREATE TABLE memory_versions (
    namespace     TEXT COLLATE "C"   NOT NULL,
    profile       TEXT COLLATE "C"   NOT NULL,
    id            TEXT COLLATE "C"   NOT NULL,
    from_tick     BIGINT NOT NULL,
    to_tick       BIGINT NOT NULL,
    valid_from    BIGINT NOT NULL,
    valid_to      BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    recorded_tick BIGINT NOT NULL,
    type          TEXT COLLATE "C"   NOT NULL,
    topic         TEXT COLLATE "C",
    scope         TEXT COLLATE "C"   NOT NULL,
    session       TEXT COLLATE "C",
    confidence    DOUBLE PRECISION,
    source_tick   BIGINT,
    ending        TEXT COLLATE "C",
    successor     TEXT COLLATE "C",
    PRIMARY KEY (namespace, profile, id, from_tick)
);
CREATE INDEX memory_versions_current ON memory_versions (namespace, profile, to_tick, valid_to, recorded_tick);
CREATE INDEX memory_versions_by_statement ON memory_versions (namespace, profile, recorded_tick);
CREATE INDEX memory_versions_by_tick ON memory_versions (namespace, profile, from_tick);
CREATE INDEX memory_versions_by_topic
    ON memory_versions (namespace, profile, topic, scope, to_tick, valid_from, recorded_tick, type)
    WHERE topic IS NOT NULL;
CREATE INDEX memory_versions_by_session ON memory_versions (namespace, profile, session, type, to_tick)
    WHERE session IS NOT NULL;

-- The answers to idempotency keys.
CREATE TABLE receipts (
    namespace   TEXT COLLATE "C"   NOT NULL,
    profile     TEXT COLLATE "C"   NOT NULL,
    key         TEXT COLLATE "C"   NOT NULL,
    fingerprint TEXT COLLATE "C"   NOT NULL,
    answer      TEXT COLLATE "C"   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile, key)
);
CREATE INDEX receipts_by_time ON receipts (namespace, profile, created_at);


-- The words of a memory, in the stems of English.
CREATE TABLE memory_words (
    namespace TEXT COLLATE "C" NOT NULL,
    profile   TEXT COLLATE "C" NOT NULL,
    id        TEXT COLLATE "C" NOT NULL,
    text      TSVECTOR NOT NULL,
    topic     TSVECTOR NOT NULL,
    PRIMARY KEY (namespace, profile, id)
);
CREATE INDEX memory_words_text ON memory_words USING GIN (text);
CREATE INDEX memory_words_topic ON memory_words USING GIN (topic);
