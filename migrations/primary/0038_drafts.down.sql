DROP TABLE visitor_keys, visitor_drafts, current_drafts;
DELETE FROM drafts WHERE parked OR body = '' AND uploads = '{}';
DROP INDEX drafts_place_key, drafts_account_idx;
ALTER TABLE drafts
    DROP CONSTRAINT drafts_pkey,
    DROP COLUMN code,
    DROP COLUMN parked,
    DROP COLUMN id,
    ADD CONSTRAINT drafts_pkey PRIMARY KEY (account_id, place);
