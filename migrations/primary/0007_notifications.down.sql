DROP TABLE notifications;
DROP TABLE muted_posts;
ALTER TABLE accounts DROP COLUMN notices_off;
DELETE FROM timelines WHERE kind = 'notifications';
COMMENT ON COLUMN timeline_entries.fresh_at IS 'max(post''s fresh_at, entered_at), withdrawn or not; rows of a post in very many filter timelines follow a bump in blocks';
