ALTER TABLE posts ADD COLUMN place text NOT NULL DEFAULT '';
COMMENT ON COLUMN posts.place IS 'where it was made, or what it tells of, as its source says; empty: unknown';
