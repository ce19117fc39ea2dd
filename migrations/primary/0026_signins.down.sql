DROP TABLE account_events;
ALTER TABLE sessions DROP COLUMN used_at, DROP COLUMN device;
