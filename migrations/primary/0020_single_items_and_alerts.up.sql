-- Single items that a program sends make a load of their own, which is no list.
ALTER TABLE loads ADD COLUMN single boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN loads.single IS 'of items that a program sent without a load: the last few are kept, apart from the others';
CREATE INDEX loads_single_idx ON loads (source_id, no) WHERE single;
