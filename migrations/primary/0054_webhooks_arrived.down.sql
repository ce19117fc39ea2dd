ALTER TABLE webhooks DROP COLUMN arrived_at;
