-- fragment: found
memory_words w
JOIN memories m ON m.namespace = w.namespace AND m.profile = w.profile AND m.id = w.id
JOIN memory_versions v ON v.namespace = w.namespace AND v.profile = w.profile AND v.id = w.id

-- name: index_memory
-- Makes the words of a memory findable.
INSERT INTO memory_words (namespace, profile, id, text, topic)
VALUES (:namespace, :profile, :id, to_tsvector('english', :text), to_tsvector('english', :topic));

-- name: search_keyword
-- The memories whose text has any of the words, best first.
SELECT {memory_columns}
FROM {found}
WHERE w.text @@ to_tsquery('english', :match) AND {of_profile} AND {visible} AND {asked}
ORDER BY ts_rank_cd(w.text, to_tsquery('english', :match), 1) DESC, v.recorded_tick DESC
LIMIT :limit;

-- name: search_topic
-- The memories whose topic has any of the words, best first.
SELECT {memory_columns}
FROM {found}
WHERE w.topic @@ to_tsquery('english', :match) AND {of_profile} AND {visible} AND {asked}
ORDER BY ts_rank_cd(w.topic, to_tsquery('english', :match), 1) DESC, v.recorded_tick DESC
LIMIT :limit;
