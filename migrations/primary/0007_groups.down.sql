DROP TABLE group_blocks;
ALTER TABLE timelines DROP COLUMN writers; -- and timelines_writers with it
