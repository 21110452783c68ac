-- fragment: found
memory_words
JOIN memories m ON m.row = memory_words.rowid
JOIN memory_versions v ON v.namespace = m.namespace AND v.profile = m.profile AND v.id = m.id

-- name: index_memory
-- Makes the words of a memory findable.
INSERT INTO memory_words (rowid, text, topic)
SELECT row, :text, :topic FROM memories WHERE namespace = :namespace AND profile = :profile AND id = :id;

-- name: search_keyword
-- The memories whose text has any of the words, best first.
SELECT {memory_columns}
FROM {found}
WHERE memory_words MATCH :match AND {of_profile} AND {visible} AND {asked}
ORDER BY bm25(memory_words, 1.0, 0.0), v.recorded_tick DESC
LIMIT :limit;

-- name: search_topic
-- The memories whose topic has any of the words, best first.
SELECT {memory_columns}
FROM {found}
WHERE memory_words MATCH :match AND {of_profile} AND {visible} AND {asked}
ORDER BY bm25(memory_words, 0.0, 1.0), v.recorded_tick DESC
LIMIT :limit;
