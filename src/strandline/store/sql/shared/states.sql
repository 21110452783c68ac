-- name: state_head
-- How often a state document changed, and how large it is.
SELECT revision, bytes, keys FROM state_heads
WHERE namespace = :namespace AND profile = :profile AND level = :level AND session = :session;

-- name: save_state_head
-- Writes the same.
INSERT INTO state_heads (namespace, profile, level, session, revision, bytes, keys)
VALUES (:namespace, :profile, :level, :session, :revision, :bytes, :keys)
ON CONFLICT (namespace, profile, level, session) DO UPDATE SET revision = :revision, bytes = :bytes, keys = :keys;

-- name: state_value
-- The present value of one key.
SELECT key, value FROM state_values
WHERE namespace = :namespace AND profile = :profile AND level = :level AND session = :session
    AND to_tick = 9223372036854775807 AND key = :key;

-- name: state_document
-- The present values of a document.
SELECT key, value FROM state_values
WHERE namespace = :namespace AND profile = :profile AND level = :level AND session = :session
    AND to_tick = 9223372036854775807
ORDER BY key;

-- name: end_state_value
-- Ends the present value of a key.
UPDATE state_values SET to_tick = :tick
WHERE namespace = :namespace AND profile = :profile AND level = :level AND session = :session
    AND to_tick = 9223372036854775807 AND key = :key;

-- name: add_state_value
-- Begins a value of a key; none where it was removed.
INSERT INTO state_values (namespace, profile, level, session, key, from_tick, to_tick, value, source_tick)
VALUES (:namespace, :profile, :level, :session, :key, :tick, 9223372036854775807, :value, :source_tick);

-- name: state_history
-- The values that a key had, oldest first, from after a tick.
SELECT key, value, from_tick, to_tick, source_tick FROM state_values
WHERE namespace = :namespace AND profile = :profile AND level = :level AND session = :session AND key = :key
    AND from_tick > :after
ORDER BY from_tick
LIMIT :limit;

-- name: state_ticks
-- The ticks after :since at which state changed.
SELECT DISTINCT from_tick FROM state_values
WHERE namespace = :namespace AND profile = :profile AND from_tick > :since AND from_tick <= :until
    AND (CAST(:level AS TEXT) IS NULL OR level = :level)
ORDER BY from_tick
LIMIT :limit;

-- name: state_changes
-- The keys that changed between two ticks, with the value at the later and the one at the earlier.
SELECT v.level, v.session, v.key, v.value,
    (SELECT p.value FROM state_values p
        WHERE p.namespace = v.namespace AND p.profile = v.profile AND p.level = v.level AND p.session = v.session
        AND p.key = v.key AND p.from_tick <= :since
        ORDER BY p.from_tick DESC LIMIT 1)
FROM state_values v
WHERE v.namespace = :namespace AND v.profile = :profile AND v.from_tick > :since AND v.from_tick <= :until
    AND v.to_tick > :until AND (CAST(:level AS TEXT) IS NULL OR v.level = :level)
ORDER BY v.level, v.session, v.key;
