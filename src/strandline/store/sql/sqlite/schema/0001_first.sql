-- The first schema. Times and ticks are microseconds since 1970 (BIGINT); 9223372036854775807 stands for "still".

CREATE TABLE profiles (
    namespace  TEXT   NOT NULL,
    profile    TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    last_tick  BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile)
) WITHOUT ROWID;

CREATE TABLE sessions (
    namespace  TEXT   NOT NULL,
    profile    TEXT   NOT NULL,
    session    TEXT   NOT NULL,
    title      TEXT,
    status     TEXT   NOT NULL,
    tags       TEXT   NOT NULL,
    metadata   TEXT   NOT NULL,
    turns      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at   BIGINT,
    PRIMARY KEY (namespace, profile, session)
);
CREATE INDEX sessions_by_activity ON sessions (namespace, profile, updated_at, session);

CREATE TABLE turns (
    namespace    TEXT   NOT NULL,
    profile      TEXT   NOT NULL,
    session      TEXT   NOT NULL,
    seq          BIGINT NOT NULL,
    tick         BIGINT NOT NULL,
    role         TEXT   NOT NULL,
    author       TEXT,
    channel      TEXT   NOT NULL,
    client       TEXT,
    content_type TEXT,
    external_id  TEXT,
    content      TEXT   NOT NULL,
    metadata     TEXT,
    state_delta  TEXT,
    state_removed TEXT,
    embedding    BLOB,
    said_at      BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile, session, seq)
);
CREATE UNIQUE INDEX turns_by_tick ON turns (namespace, profile, tick);
CREATE INDEX turns_by_channel ON turns (namespace, profile, session, channel, seq);
CREATE UNIQUE INDEX turns_by_external_id ON turns (namespace, profile, session, external_id)
    WHERE external_id IS NOT NULL;

-- One row a state document: that of a session, of the user level (session '') or of the app level (session '').
CREATE TABLE state_heads (
    namespace TEXT   NOT NULL,
    profile   TEXT   NOT NULL,
    level     TEXT   NOT NULL,
    session   TEXT   NOT NULL,
    revision  BIGINT NOT NULL,
    bytes     BIGINT NOT NULL,
    keys      BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile, level, session)
) WITHOUT ROWID;

-- Every value that a key had. A removed key ends in a row without a value.
CREATE TABLE state_values (
    namespace   TEXT   NOT NULL,
    profile     TEXT   NOT NULL,
    level       TEXT   NOT NULL,
    session     TEXT   NOT NULL,
    key         TEXT   NOT NULL,
    from_tick   BIGINT NOT NULL,
    to_tick     BIGINT NOT NULL,
    value       BLOB,
    source_tick BIGINT,
    PRIMARY KEY (namespace, profile, level, session, key, from_tick)
);
CREATE INDEX state_values_open ON state_values (namespace, profile, level, session, to_tick, key);
CREATE INDEX state_values_by_tick ON state_values (namespace, profile, from_tick);

-- What is stated, once an id.
CREATE TABLE memories (
    row       INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    profile   TEXT NOT NULL,
    id        TEXT NOT NULL,
    subject   TEXT,
    key       TEXT,
    value     TEXT,
    text      TEXT NOT NULL,
    metadata  TEXT,
    UNIQUE (namespace, profile, id)
);

-- When it was known to hold: known in [from_tick, to_tick), true in the world in [valid_from, valid_to).
CREATE TABLE memory_versions (
    namespace     TEXT   NOT NULL,
    profile       TEXT   NOT NULL,
    id            TEXT   NOT NULL,
    from_tick     BIGINT NOT NULL,
    to_tick       BIGINT NOT NULL,
    valid_from    BIGINT NOT NULL,
    valid_to      BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    recorded_tick BIGINT NOT NULL,
    type          TEXT   NOT NULL,
    topic         TEXT,
    scope         TEXT   NOT NULL,
    session       TEXT,
    confidence    DOUBLE PRECISION,
    source_tick   BIGINT,
    ending        TEXT,
    successor     TEXT,
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

-- The words of a memory, under the row of `memories`. Each stands behind a token of its profile, so that a search reads
-- and weighs only that profile's postings.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    text, topic, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

-- The answers to idempotency keys.
CREATE TABLE receipts (
    namespace   TEXT   NOT NULL,
    profile     TEXT   NOT NULL,
    key         TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    answer      TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (namespace, profile, key)
);
CREATE INDEX receipts_by_time ON receipts (namespace, profile, created_at);

-- What the planner is to believe: one namespace with ten profiles of 100,000 rows each. Without statistics it takes a
-- profile for ten rows, and then a new file reads all of a profile where an index leads to one row of it. The numbers
-- are the rows of the table, then how many of them agree in the first column of the index, in the first two, and so on.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('profiles', 'profiles', '10 10 1'),
    ('sessions', 'sqlite_autoindex_sessions_1', '100000 100000 10000 1'),
    ('sessions', 'sessions_by_activity', '100000 100000 10000 1 1'),
    ('turns', 'sqlite_autoindex_turns_1', '1000000 1000000 100000 1000 1'),
    ('turns', 'turns_by_tick', '1000000 1000000 100000 1'),
    ('turns', 'turns_by_channel', '1000000 1000000 100000 1000 500 1'),
    ('turns', 'turns_by_external_id', '1000000 1000000 100000 1000 1'),
    ('state_heads', 'state_heads', '100000 100000 10000 10000 1'),
    ('state_values', 'sqlite_autoindex_state_values_1', '1000000 1000000 100000 50000 100 10 1'),
    ('state_values', 'state_values_open', '1000000 1000000 100000 50000 100 50 1'),
    ('state_values', 'state_values_by_tick', '1000000 1000000 100000 10'),
    ('memories', 'sqlite_autoindex_memories_1', '1000000 1000000 100000 1'),
    ('memory_versions', 'sqlite_autoindex_memory_versions_1', '1000000 1000000 100000 2 1'),
    ('memory_versions', 'memory_versions_current', '1000000 1000000 100000 50000 40000 1'),
    ('memory_versions', 'memory_versions_by_statement', '1000000 1000000 100000 2'),
    ('memory_versions', 'memory_versions_by_tick', '1000000 1000000 100000 2'),
    ('memory_versions', 'memory_versions_by_topic', '500000 500000 50000 10 10 5 2 1 1'),
    ('memory_versions', 'memory_versions_by_session', '500000 500000 50000 100 50 25'),
    ('receipts', 'sqlite_autoindex_receipts_1', '100000 100000 10000 1'),
    ('receipts', 'receipts_by_time', '100000 100000 10000 1');
ANALYZE sqlite_schema;
