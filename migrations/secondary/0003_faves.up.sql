-- How many keep the post. Folds from before know of none, and there were none.
ALTER TABLE folds ADD COLUMN faves integer NOT NULL DEFAULT 0;
