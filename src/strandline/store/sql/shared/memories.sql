-- fragment: memory_columns
v.id, v.type, m.text, v.topic, m.subject, m.key, m.value, v.session, v.scope, m.metadata, v.confidence, v.source_tick,
v.valid_from, v.valid_to, v.expires_at, v.recorded_tick, v.from_tick, v.to_tick, v.ending, v.successor

-- fragment: memory_tables
memory_versions v JOIN memories m ON m.namespace = v.namespace AND m.profile = v.profile AND m.id = v.id

-- fragment: of_profile
v.namespace = :namespace AND v.profile = :profile

-- fragment: visible
v.from_tick <= :known AND v.to_tick > :known AND v.valid_from <= :valid AND v.valid_to > :valid AND v.expires_at > :now

-- fragment: narrowed
(CAST(:type AS TEXT) IS NULL OR v.type = :type) AND (CAST(:session AS TEXT) IS NULL OR v.session = :session)
    AND (CAST(:topic AS TEXT) IS NULL OR v.topic = :topic) AND (CAST(:subject AS TEXT) IS NULL OR m.subject = :subject)
    AND (CAST(:scope AS TEXT) IS NULL OR v.scope LIKE :scope)

-- fragment: asked
(CAST(:types AS TEXT) IS NULL OR replace(:types, '/' || v.type || '/', '') <> :types)
    AND (CAST(:session AS TEXT) IS NULL OR v.session = :session)
    AND (CAST(:scope AS TEXT) IS NULL OR v.scope LIKE :scope)
    AND v.valid_from >= :since AND v.valid_from < :until

-- name: add_memory
-- Stores what a memory states, once.
INSERT INTO memories (namespace, profile, id, subject, key, value, text, metadata)
VALUES (:namespace, :profile, :id, :subject, :key, :value, :text, :metadata);

-- name: add_memory_version
-- Begins a version of a memory.
INSERT INTO memory_versions (namespace, profile, id, type, topic, session, scope, confidence, source_tick,
    valid_from, valid_to, expires_at, recorded_tick, from_tick, to_tick, ending, successor)
VALUES (:namespace, :profile, :id, :type, :topic, :session, :scope, :confidence, :source_tick,
    :valid_from, :valid_to, :expires_at, :recorded_tick, :from_tick, 9223372036854775807, :ending, :successor);

-- name: end_memory_version
-- Ends the version that began at :from_tick: from :tick on another is known.
UPDATE memory_versions SET to_tick = :tick
WHERE namespace = :namespace AND profile = :profile AND id = :id AND from_tick = :from_tick;

-- name: memory_versions
-- The versions of one memory that are known now, oldest validity first.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.id = :id AND v.to_tick = 9223372036854775807
ORDER BY v.valid_from, v.recorded_tick;

-- name: memory
-- One memory as it holds at an instant.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.id = :id AND {visible}
ORDER BY v.recorded_tick DESC
LIMIT 1;

-- name: topic_before
-- The last version of a topic that begins at or before an instant; a tie is decided by arrival.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.topic = :topic AND v.type = :type AND v.scope = :scope
    AND v.to_tick = 9223372036854775807 AND v.valid_from <= :valid
ORDER BY v.valid_from DESC, v.recorded_tick DESC
LIMIT 1;

-- name: topic_after
-- The first version of a topic that begins after an instant.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.topic = :topic AND v.type = :type AND v.scope = :scope
    AND v.to_tick = 9223372036854775807 AND v.valid_from > :valid
ORDER BY v.valid_from, v.recorded_tick
LIMIT 1;

-- name: topic_history
-- The chain of a topic in one scope as known now, oldest validity first, from after a place in it.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.topic = :topic AND v.scope = :scope AND v.to_tick = 9223372036854775807
    AND (CAST(:type AS TEXT) IS NULL OR v.type = :type)
    AND v.expires_at > :now AND (v.valid_from, v.recorded_tick) > (:valid, :recorded)
ORDER BY v.valid_from, v.recorded_tick
LIMIT :limit;

-- name: memories_current
-- The memories that hold now, newest statement first. Two ranges of one index: open ends, and ends still to come.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.to_tick = 9223372036854775807 AND v.valid_to = 9223372036854775807
    AND v.recorded_tick < :before AND v.valid_from <= :now AND v.expires_at > :now AND {narrowed}
UNION ALL
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.to_tick = 9223372036854775807 AND v.valid_to > :now
    AND v.valid_to < 9223372036854775807
    AND v.recorded_tick < :before AND v.valid_from <= :now AND v.expires_at > :now AND {narrowed}
ORDER BY recorded_tick DESC
LIMIT :limit;

-- name: memories_as_of
-- The memories that held at an instant as known at a tick, newest statement first.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.recorded_tick < :before AND {visible} AND {narrowed}
ORDER BY v.recorded_tick DESC
LIMIT :limit;

-- name: memories_known
-- Every statement that was known at a tick, at whatever time it holds, newest first.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.recorded_tick < :before AND v.from_tick <= :known AND v.to_tick > :known
    AND v.expires_at > :now AND {narrowed}
ORDER BY v.recorded_tick DESC
LIMIT :limit;

-- name: session_tasks
-- The tasks of a session that hold.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.session = :session AND v.type = 'task' AND v.to_tick = 9223372036854775807
    AND v.ending IS NULL AND v.valid_to > :now AND v.expires_at > :now
ORDER BY v.recorded_tick;

-- name: memory_ticks
-- The ticks after :since at which memories changed.
SELECT DISTINCT from_tick FROM memory_versions
WHERE namespace = :namespace AND profile = :profile AND from_tick > :since AND from_tick <= :until
ORDER BY from_tick
LIMIT :limit;

-- name: memories_changed_after
-- The versions that came between two ticks and hold at the later one.
SELECT {memory_columns} FROM {memory_tables}
WHERE {of_profile} AND v.from_tick > :since AND v.from_tick <= :until AND v.to_tick > :until
    AND v.valid_from <= :valid AND v.valid_to > :valid AND v.expires_at > :now
ORDER BY v.recorded_tick, v.id;

-- name: memories_changed_before
-- What held at the earlier tick of the memories that changed between two.
SELECT {memory_columns}
FROM (SELECT DISTINCT c.id AS changed, c.recorded_tick AS recorded FROM memory_versions c
    WHERE c.namespace = :namespace AND c.profile = :profile AND c.from_tick > :since AND c.from_tick <= :until) AS ids
CROSS JOIN {memory_tables}
WHERE {of_profile} AND v.id = ids.changed AND v.recorded_tick = ids.recorded AND v.from_tick <= :since AND v.to_tick > :since
    AND v.valid_from <= :valid AND v.valid_to > :valid AND v.expires_at > :now
ORDER BY v.recorded_tick, v.id;
