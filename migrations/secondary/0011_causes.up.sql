ALTER TABLE rivers ADD COLUMN cause text NOT NULL DEFAULT '' CONSTRAINT rivers_cause CHECK (cause IN ('', 'visit', 'change', 'search', 'request'));
COMMENT ON COLUMN rivers.cause IS 'why this generation was built; empty: by a version that did not say';
