DROP INDEX loads_single_idx;
ALTER TABLE loads DROP COLUMN single;
