ALTER TABLE sources DROP COLUMN unread_until, DROP COLUMN feeds;
