-- What people write and have not sent yet, by the place of its form.
CREATE TABLE drafts (
    account_id   bigint      NOT NULL CONSTRAINT drafts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    saved_at     timestamptz NOT NULL,
    place        text        NOT NULL CONSTRAINT drafts_place CHECK (place ~ '^/' AND length(place) <= 100),
    language     text        NOT NULL CONSTRAINT drafts_language CHECK (length(language) <= 10),
    body         text        NOT NULL CONSTRAINT drafts_body CHECK (octet_length(body) <= 400000),
    destinations text[]      NOT NULL CONSTRAINT drafts_destinations CHECK (cardinality(destinations) <= 50),
    uploads      text[]      NOT NULL CONSTRAINT drafts_uploads CHECK (cardinality(uploads) <= 100),
    CONSTRAINT drafts_pkey PRIMARY KEY (account_id, place)
);
COMMENT ON TABLE drafts IS 'texts of forms that are not sent yet; only their author reads them. A draft of a comment stays when its author may not read the post any more: nobody else may know of it, and the text is not lost';
COMMENT ON COLUMN drafts.place IS 'the address of the page with the form; of a comment, that of its post';
COMMENT ON COLUMN drafts.uploads IS 'codes of the files that the form names';
