-- When people last looked at their home pages.
CREATE TABLE home_visits (
    account_id bigint NOT NULL CONSTRAINT home_visits_pkey PRIMARY KEY
                      CONSTRAINT home_visits_account_fkey REFERENCES accounts ON DELETE CASCADE,
    seen       bigint NOT NULL
);
COMMENT ON COLUMN home_visits.seen IS 'microseconds; written as reads are';
