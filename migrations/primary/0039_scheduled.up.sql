-- Posts that are to be published at a time that their author chose.
CREATE TABLE scheduled_posts (
    account_id   bigint      NOT NULL CONSTRAINT scheduled_posts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    due_at       timestamptz NOT NULL,
    saved_at     timestamptz NOT NULL,
    failed_at    timestamptz,
    problem_most integer     NOT NULL DEFAULT 0,
    code         text        NOT NULL CONSTRAINT scheduled_posts_pkey PRIMARY KEY,
    key          text        NOT NULL CONSTRAINT scheduled_posts_key CHECK (length(key) <= 100),
    zone         text        NOT NULL CONSTRAINT scheduled_posts_zone CHECK (length(zone) <= 100),
    place        text        NOT NULL CONSTRAINT scheduled_posts_place CHECK (place ~ '^/' AND length(place) <= 100),
    language     text        NOT NULL CONSTRAINT scheduled_posts_language CHECK (length(language) <= 10),
    body         text        NOT NULL CONSTRAINT scheduled_posts_body CHECK (octet_length(body) <= 400000),
    destinations text[]      NOT NULL CONSTRAINT scheduled_posts_destinations CHECK (cardinality(destinations) <= 50),
    uploads      text[]      NOT NULL CONSTRAINT scheduled_posts_uploads CHECK (cardinality(uploads) <= 100),
    problem      text        NOT NULL DEFAULT '' CONSTRAINT scheduled_posts_problem CHECK ((problem <> '') = (failed_at IS NOT NULL)),
    problem_value text       NOT NULL DEFAULT ''
);
COMMENT ON TABLE scheduled_posts IS 'posts to be published at a time; only their author reads them. The transaction that publishes one deletes its row';
COMMENT ON COLUMN scheduled_posts.saved_at IS 'tells a version of it from others: a form and a job change or publish only the one that they read';
COMMENT ON COLUMN scheduled_posts.failed_at IS 'since when it is known that it cannot be published; null: it waits for its time';
COMMENT ON COLUMN scheduled_posts.key IS 'of the form that was saved last, or empty';
COMMENT ON COLUMN scheduled_posts.zone IS 'the time zone in which its author chose the time';
COMMENT ON COLUMN scheduled_posts.place IS 'of the draft that its text becomes if it is cancelled';
COMMENT ON COLUMN scheduled_posts.problem IS 'the code of the error with which publishing it failed';
-- The job finds what is due, the oldest first.
CREATE INDEX scheduled_posts_due_idx ON scheduled_posts (due_at, code) WHERE failed_at IS NULL;
-- An author's list, and the files that it names.
CREATE INDEX scheduled_posts_account_idx ON scheduled_posts (account_id, due_at);
-- A form that was sent twice counts once.
CREATE UNIQUE INDEX scheduled_posts_key_idx ON scheduled_posts (account_id, key) WHERE key <> '';
