-- Only a sub-feed's timeline is ever deleted, and that takes its rows with it (Feeds.Delete). Whatever puts a post
-- into one holds the timeline's row (lockLevelsTx). So this key could not be violated. Each row
-- written was checked by a statement that locked a row of timelines.
ALTER TABLE timeline_entries DROP CONSTRAINT timeline_entries_timeline_fkey;
COMMENT ON COLUMN timeline_entries.timeline_id IS 'a timeline. Deleting one deletes these rows';
