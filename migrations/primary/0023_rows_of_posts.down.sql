ALTER TABLE timeline_entries ADD CONSTRAINT timeline_entries_post_fkey FOREIGN KEY (post_id) REFERENCES posts ON DELETE CASCADE;
ALTER TABLE texts ADD CONSTRAINT texts_post_fkey FOREIGN KEY (post_id) REFERENCES posts ON DELETE CASCADE;
ALTER TABLE text_marks ADD CONSTRAINT text_marks_post_fkey FOREIGN KEY (post_id) REFERENCES posts ON DELETE CASCADE;
COMMENT ON COLUMN timeline_entries.post_id IS NULL;
