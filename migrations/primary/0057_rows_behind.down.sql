ALTER TABLE posts DROP COLUMN rows_behind;
