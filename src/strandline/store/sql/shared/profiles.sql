-- name: take_tick
-- Holds the profile (creating it) and takes its next tick: :least, or one more than the last.
INSERT INTO profiles (namespace, profile, created_at, last_tick)
VALUES (:namespace, :profile, :now, :least)
ON CONFLICT (namespace, profile) DO UPDATE SET
    last_tick = CASE WHEN profiles.last_tick >= :least THEN profiles.last_tick + 1 ELSE :least END
RETURNING last_tick;

-- name: position
-- The last tick of a profile.
SELECT last_tick FROM profiles WHERE namespace = :namespace AND profile = :profile;

-- name: profiles
-- The profiles of a namespace by name, with what they hold. A namespace-wide read.
SELECT p.profile, p.created_at, p.last_tick,
    (SELECT COUNT(*) FROM sessions s WHERE s.namespace = p.namespace AND s.profile = p.profile),
    (SELECT CAST(COALESCE(SUM(s.turns), 0) AS BIGINT) FROM sessions s
        WHERE s.namespace = p.namespace AND s.profile = p.profile),
    (SELECT COUNT(*) FROM memory_versions v
        WHERE v.namespace = p.namespace AND v.profile = p.profile AND v.to_tick = 9223372036854775807
        AND v.valid_to > :now AND v.valid_from <= :now AND v.expires_at > :now)
FROM profiles p
WHERE p.namespace = :namespace AND p.profile > :after
ORDER BY p.profile
LIMIT :limit;
