-- fragment: turn_columns
session, seq, tick, role, author, channel, client, content_type, external_id, content, metadata, state_delta,
state_removed, embedding, said_at

-- name: add_turn
-- Stores a turn.
INSERT INTO turns (namespace, profile, {turn_columns})
VALUES (:namespace, :profile, :session, :seq, :tick, :role, :author, :channel, :client, :content_type, :external_id,
    :content, :metadata, :state_delta, :state_removed, :embedding, :said_at);

-- name: turns_after
-- The turns of one channel that follow :seq, oldest first.
SELECT {turn_columns} FROM turns
WHERE namespace = :namespace AND profile = :profile AND session = :session AND channel = :channel AND seq > :seq
ORDER BY seq LIMIT :limit;

-- name: turns_before
-- The turns of one channel that precede :seq, newest first.
SELECT {turn_columns} FROM turns
WHERE namespace = :namespace AND profile = :profile AND session = :session AND channel = :channel AND seq < :seq
ORDER BY seq DESC LIMIT :limit;

-- name: all_turns_after
-- The turns of every channel that follow :seq, oldest first.
SELECT {turn_columns} FROM turns
WHERE namespace = :namespace AND profile = :profile AND session = :session AND seq > :seq
ORDER BY seq LIMIT :limit;

-- name: all_turns_before
-- The turns of every channel that precede :seq, newest first.
SELECT {turn_columns} FROM turns
WHERE namespace = :namespace AND profile = :profile AND session = :session AND seq < :seq
ORDER BY seq DESC LIMIT :limit;

-- name: turn_at
-- The turn that has a tick.
SELECT {turn_columns} FROM turns WHERE namespace = :namespace AND profile = :profile AND tick = :tick;

-- name: turn_by_external_id
-- The turn that a caller named.
SELECT {turn_columns} FROM turns
WHERE namespace = :namespace AND profile = :profile AND session = :session AND external_id = :external_id;

-- name: drop_turns
-- Drops the transcript of a session.
DELETE FROM turns WHERE namespace = :namespace AND profile = :profile AND session = :session;
