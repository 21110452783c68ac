-- name: index_memory
-- Makes the words of a memory findable.
INSERT INTO memory_words (rowid, owner, text, topic)
SELECT row, :owner, :text, :topic FROM memories WHERE namespace = :namespace AND profile = :profile AND id = :id;

-- name: search_memories
-- The memories whose words match, best first; :text_weight and :topic_weight say which column counts.
SELECT {memory_columns}, bm25(memory_words, 0.0, :text_weight, :topic_weight) AS distance
FROM memory_words
JOIN memories m ON m.row = memory_words.rowid
JOIN memory_versions v ON v.namespace = m.namespace AND v.profile = m.profile AND v.id = m.id
WHERE memory_words MATCH :match AND {of_profile} AND {visible}
    AND (CAST(:types AS TEXT) IS NULL OR replace(:types, '/' || v.type || '/', '') <> :types)
    AND (CAST(:session AS TEXT) IS NULL OR v.session = :session)
    AND (CAST(:scope AS TEXT) IS NULL OR v.scope LIKE :scope)
    AND v.valid_from >= :since AND v.valid_from < :until
ORDER BY distance, v.recorded_tick DESC
LIMIT :limit;
