-- name: receipt
-- The stored answer to an idempotency key.
SELECT fingerprint, answer FROM receipts
WHERE namespace = :namespace AND profile = :profile AND key = :key AND created_at > :oldest;

-- name: add_receipt
-- Stores the answer to an idempotency key.
INSERT INTO receipts (namespace, profile, key, fingerprint, answer, created_at)
VALUES (:namespace, :profile, :key, :fingerprint, :answer, :now)
ON CONFLICT (namespace, profile, key) DO UPDATE SET
    fingerprint = :fingerprint, answer = :answer, created_at = :now;

-- name: drop_receipts
-- Forgets a profile's answers that are past their time.
DELETE FROM receipts WHERE namespace = :namespace AND profile = :profile AND created_at <= :oldest;
