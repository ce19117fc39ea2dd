-- Nothing was ever found by it: nearly all folds are old, and those that nothing links
-- are looked for by that. Each like wrote it.
DROP INDEX folds_updated_idx;
