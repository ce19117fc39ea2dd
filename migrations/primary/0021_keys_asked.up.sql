-- One key with other content is another request.
ALTER TABLE keys ADD COLUMN asked bytea CONSTRAINT keys_asked CHECK (length(asked) = 32);
COMMENT ON COLUMN keys.asked IS 'SHA-256 of what the form asked for (timelines/keys.go); null in rows from before it was kept: whatever comes with such a key is the same request';
