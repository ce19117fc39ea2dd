COMMENT ON COLUMN bulk_acts.after IS 'with after_id: the last post of the preset that was looked at; NULL: none yet';
ALTER TABLE bulk_acts DROP COLUMN block;
