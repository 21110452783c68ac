-- fragment: session_columns
session, title, status, tags, metadata, turns, created_at, updated_at, ended_at

-- name: session
-- One session.
SELECT {session_columns} FROM sessions
WHERE namespace = :namespace AND profile = :profile AND session = :session;

-- name: advance_session
-- Moves a session on by :turns turns, creating it where it is new; answers its last seq and its status.
INSERT INTO sessions (namespace, profile, session, status, tags, metadata, turns, created_at, updated_at)
VALUES (:namespace, :profile, :session, 'active', '', '{}', :turns, :tick, :tick)
ON CONFLICT (namespace, profile, session) DO UPDATE SET
    turns = sessions.turns + :turns, updated_at = :tick
RETURNING turns, status;

-- name: save_session
-- Writes what a caller can say of a session.
UPDATE sessions SET
    title = :title, status = :status, tags = :tags, metadata = :metadata, updated_at = :updated_at,
    ended_at = :ended_at, turns = :turns
WHERE namespace = :namespace AND profile = :profile AND session = :session;

-- name: sessions
-- The sessions of a profile, newest activity first, from before a place in that order. Tags are tokens.
SELECT {session_columns} FROM sessions
WHERE namespace = :namespace AND profile = :profile
    AND (updated_at, session) < (:updated_at, :before)
    AND (CAST(:status AS TEXT) IS NULL OR status = :status)
    AND (CAST(:tag AS TEXT) IS NULL OR replace(tags, :tag, '') <> tags)
ORDER BY updated_at DESC, session DESC
LIMIT :limit;
