-- Reports and appeals, and the removal of all that somebody wrote.

CREATE TABLE reports (
    id          bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT reports_pkey PRIMARY KEY,
    reporter_id bigint      CONSTRAINT reports_reporter_fkey REFERENCES accounts ON DELETE SET NULL,
    account_id  bigint      NOT NULL CONSTRAINT reports_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id     bigint      CONSTRAINT reports_post_fkey REFERENCES posts ON DELETE SET NULL,
    comment_id  bigint      CONSTRAINT reports_comment_fkey REFERENCES comments ON DELETE SET NULL,
    taken_by    bigint      CONSTRAINT reports_taken_by_fkey REFERENCES accounts ON DELETE SET NULL,
    done_by     bigint      CONSTRAINT reports_done_by_fkey REFERENCES accounts ON DELETE SET NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    done_at     timestamptz,
    answer_seen boolean     NOT NULL DEFAULT false,
    code        text        NOT NULL CONSTRAINT reports_code_key UNIQUE
                            CONSTRAINT reports_code CHECK (code ~ '^[0-9a-hjkmnp-tv-z]{10}$'),
    kind        text        NOT NULL CONSTRAINT reports_kind CHECK (kind IN ('report', 'appeal')),
    reason      text        NOT NULL DEFAULT '' CONSTRAINT reports_reason CHECK (reason IN ('', 'spam', 'abuse', 'private', 'other')),
    state       text        NOT NULL DEFAULT 'open' CONSTRAINT reports_state CHECK (state IN ('open', 'taken', 'done')),
    outcome     text        NOT NULL DEFAULT '' CONSTRAINT reports_outcome CHECK (outcome IN ('', 'removed', 'suspended', 'restored', 'nothing', 'other')),
    body        text        NOT NULL CONSTRAINT reports_body CHECK (length(body) <= 2000),
    said        text        NOT NULL DEFAULT '' CONSTRAINT reports_said CHECK (octet_length(said) <= 400000),
    answer      text        NOT NULL DEFAULT '' CONSTRAINT reports_answer CHECK (length(answer) <= 2000),
    CONSTRAINT reports_of_post CHECK (comment_id IS NULL OR post_id IS NOT NULL),
    CONSTRAINT reports_done CHECK ((state = 'done') = (done_at IS NOT NULL))
);
COMMENT ON TABLE reports IS 'people''s reports of a post, a comment or an account, and appeals of the suspended; staff answer them';
COMMENT ON COLUMN reports.reporter_id IS 'NULL: the account is deleted';
COMMENT ON COLUMN reports.account_id IS 'whom it is about; of an appeal its sender';
COMMENT ON COLUMN reports.body IS 'what the reporter says of it';
COMMENT ON COLUMN reports.said IS 'the text of the post or comment as it was reported. Staff read it there, as they may not be readers of the post';
COMMENT ON COLUMN reports.answer IS 'to the reporter';
COMMENT ON COLUMN reports.answer_seen IS 'the reporter has seen that it is done';
COMMENT ON COLUMN reports.done_by IS 'NULL: by the command line, or by somebody who is gone';
-- The same thing is reported once by the same person while that is not done.
CREATE UNIQUE INDEX reports_once_idx ON reports (reporter_id, account_id, coalesce(post_id, 0), coalesce(comment_id, 0), kind) WHERE state <> 'done';
CREATE INDEX reports_waiting_idx ON reports (id) WHERE state <> 'done';
CREATE INDEX reports_account_idx ON reports (account_id, id);
CREATE INDEX reports_reporter_idx ON reports (reporter_id, id);
CREATE INDEX reports_post_idx ON reports (post_id) WHERE post_id IS NOT NULL;
CREATE INDEX reports_comment_idx ON reports (comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX reports_taken_by_idx ON reports (taken_by) WHERE taken_by IS NOT NULL;
CREATE INDEX reports_done_by_idx ON reports (done_by) WHERE done_by IS NOT NULL;
-- People whom an answer waits for.
CREATE INDEX reports_unseen_idx ON reports (reporter_id) WHERE state = 'done' AND NOT answer_seen;

CREATE TABLE report_notes (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT report_notes_pkey PRIMARY KEY,
    report_id  bigint      NOT NULL CONSTRAINT report_notes_report_fkey REFERENCES reports ON DELETE CASCADE,
    by_id      bigint      CONSTRAINT report_notes_by_fkey REFERENCES accounts ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    by_name    text        NOT NULL,
    body       text        NOT NULL CONSTRAINT report_notes_body CHECK (length(body) <= 2000)
);
COMMENT ON TABLE report_notes IS 'what the staff write to each other about a report';
COMMENT ON COLUMN report_notes.by_name IS 'the name at that time';
CREATE INDEX report_notes_report_idx ON report_notes (report_id, id);
CREATE INDEX report_notes_by_idx ON report_notes (by_id) WHERE by_id IS NOT NULL;

CREATE TABLE removals (
    account_id bigint NOT NULL CONSTRAINT removals_pkey PRIMARY KEY
                      CONSTRAINT removals_account_fkey REFERENCES accounts ON DELETE CASCADE,
    after      bigint NOT NULL DEFAULT 0,
    pending    jsonb  NOT NULL DEFAULT '[]'
);
COMMENT ON TABLE removals IS 'accounts all of whose posts and comments are being removed, block by block';
COMMENT ON COLUMN removals.after IS 'posts up to that id have been looked at';
COMMENT ON COLUMN removals.pending IS 'the posts of the last block with the timelines touched, until pages have followed it';
