CREATE INDEX timeline_entries_post_idx ON timeline_entries (post_id);
CREATE UNIQUE INDEX timeline_entries_key ON timeline_entries (timeline_id, post_id);
ALTER TABLE timeline_entries
    DROP CONSTRAINT timeline_entries_pkey,
    ADD CONSTRAINT timeline_entries_pkey PRIMARY KEY USING INDEX timeline_entries_key;
