-- A post's row is never deleted, and whatever writes these rows has made or locked the post in its transaction. So these
-- three keys could not be violated. Each was checked by a statement for each row, which took a tenth of an import.
ALTER TABLE timeline_entries DROP CONSTRAINT timeline_entries_post_fkey;
ALTER TABLE texts DROP CONSTRAINT texts_post_fkey;
ALTER TABLE text_marks DROP CONSTRAINT text_marks_post_fkey;
COMMENT ON COLUMN timeline_entries.post_id IS 'a post, whose row is never deleted';
