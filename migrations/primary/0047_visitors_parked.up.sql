-- Visitors put drafts aside, too.
ALTER TABLE visitor_drafts
    ADD COLUMN parked boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT visitor_drafts_pkey,
    DROP CONSTRAINT visitor_drafts_id_key,
    ADD CONSTRAINT visitor_drafts_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX visitor_drafts_place_key ON visitor_drafts (owner, place) WHERE NOT parked;
CREATE INDEX visitor_drafts_owner_idx ON visitor_drafts (owner);
COMMENT ON COLUMN visitor_drafts.parked IS 'another draft may take its place, or has taken it';
