CREATE INDEX entries_post_idx ON entries (post_id);
CREATE UNIQUE INDEX entries_key ON entries (river_id, post_id);
ALTER TABLE entries
    DROP CONSTRAINT entries_pkey,
    ADD CONSTRAINT entries_pkey PRIMARY KEY USING INDEX entries_key;
