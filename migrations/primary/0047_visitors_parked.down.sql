DELETE FROM visitor_drafts WHERE parked;
DROP INDEX visitor_drafts_owner_idx, visitor_drafts_place_key;
ALTER TABLE visitor_drafts
    DROP COLUMN parked,
    DROP CONSTRAINT visitor_drafts_pkey,
    ADD CONSTRAINT visitor_drafts_pkey PRIMARY KEY (owner, place),
    ADD CONSTRAINT visitor_drafts_id_key UNIQUE (id);
