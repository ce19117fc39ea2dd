-- A crash repeats a block: it must be the same posts, though those it changed may have left the preset.
ALTER TABLE bulk_acts ADD COLUMN block text[];
COMMENT ON COLUMN bulk_acts.block IS 'the posts that are being changed; NULL: none are chosen yet';
COMMENT ON COLUMN bulk_acts.after IS 'with after_id: where the block after this one begins, below that post of the preset; NULL: at the top; the year 1: this is the last';
