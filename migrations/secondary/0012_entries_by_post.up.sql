-- A change concerns one post in many rivers. By post and river the rows it looks up and writes stand together in the
-- key, which so serves also what the index by post alone was for. A river's own entries are found by its order.
CREATE UNIQUE INDEX entries_key ON entries (post_id, river_id);
ALTER TABLE entries
    DROP CONSTRAINT entries_pkey,
    ADD CONSTRAINT entries_pkey PRIMARY KEY USING INDEX entries_key;
DROP INDEX entries_post_idx;
