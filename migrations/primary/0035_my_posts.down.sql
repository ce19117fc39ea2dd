DROP TABLE author_totals;
DROP TABLE author_counters;
DROP INDEX posts_status_idx;
ALTER TABLE posts DROP COLUMN status, DROP COLUMN imported;
