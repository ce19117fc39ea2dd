CREATE INDEX folds_updated_idx ON folds (updated_at);
