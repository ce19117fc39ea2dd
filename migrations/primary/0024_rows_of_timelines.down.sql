ALTER TABLE timeline_entries
    ADD CONSTRAINT timeline_entries_timeline_fkey FOREIGN KEY (timeline_id) REFERENCES timelines ON DELETE CASCADE;
COMMENT ON COLUMN timeline_entries.timeline_id IS NULL;
