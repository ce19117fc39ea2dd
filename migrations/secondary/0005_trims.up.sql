ALTER TABLE rivers ADD COLUMN trims integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN rivers.trims IS 'how often entries were taken from below the floor; an extension that began before the last time counts on what may be gone';
