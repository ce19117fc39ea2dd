-- Drafts of listings keep their fields.

ALTER TABLE drafts ADD COLUMN listing jsonb CONSTRAINT drafts_listing CHECK (octet_length(listing::text) <= 4000);
COMMENT ON COLUMN drafts.listing IS 'of a draft of a listing: its fields as the form has them; they are checked when it is sent';
