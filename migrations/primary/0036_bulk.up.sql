-- What an author does to many posts at once; a job does it, block by block.
CREATE TABLE bulk_acts (
    id           bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT bulk_acts_id_key UNIQUE,
    account_id   bigint      NOT NULL CONSTRAINT bulk_acts_pkey PRIMARY KEY
                             CONSTRAINT bulk_acts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    total        bigint      NOT NULL,
    done         bigint      NOT NULL DEFAULT 0,
    skipped      bigint      NOT NULL DEFAULT 0,
    until_id     bigint      NOT NULL,
    after_id     bigint      NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT now(),
    after        timestamptz,
    act          text        NOT NULL CONSTRAINT bulk_acts_act CHECK (act IN ('delete', 'move', 'close')),
    preset       text        NOT NULL CONSTRAINT bulk_acts_preset CHECK (preset <> ''),
    state        text        NOT NULL DEFAULT 'working' CONSTRAINT bulk_acts_state CHECK (state IN ('working', 'done', 'stopped')),
    problem      text        NOT NULL DEFAULT '',
    codes        text[]      CONSTRAINT bulk_acts_codes CHECK (cardinality(codes) BETWEEN 1 AND 100),
    destinations text[]      NOT NULL DEFAULT '{}' CONSTRAINT bulk_acts_destinations CHECK (cardinality(destinations) <= 50)
);
COMMENT ON TABLE bulk_acts IS 'the last act of an author on several posts: one at a time';
COMMENT ON COLUMN bulk_acts.codes IS 'the chosen posts; NULL: all of the preset that were there when it began';
COMMENT ON COLUMN bulk_acts.until_id IS 'posts with greater ids came later';
COMMENT ON COLUMN bulk_acts.after IS 'with after_id: the last post of the preset that was looked at; NULL: none yet';
COMMENT ON COLUMN bulk_acts.problem IS 'a code of timelines.InvalidError: why the last post that was skipped was';
