-- Pictures and files that people upload. Their content stands in the store of blobs
-- (timelines/blobs); here is what each upload is for, and which blobs it consists of.

CREATE TABLE files (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT files_pkey PRIMARY KEY,
    owner_id   bigint      NOT NULL CONSTRAINT files_owner_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint      CONSTRAINT files_post_fkey REFERENCES posts ON DELETE CASCADE,
    comment_id bigint      CONSTRAINT files_comment_fkey REFERENCES comments ON DELETE CASCADE,
    account_id bigint      CONSTRAINT files_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    bytes      bigint      NOT NULL,
    width      integer     NOT NULL DEFAULT 0,
    height     integer     NOT NULL DEFAULT 0,
    position   smallint    NOT NULL DEFAULT 0,
    code       text        NOT NULL CONSTRAINT files_code_key UNIQUE
                           CONSTRAINT files_code CHECK (code ~ '^[0-9a-hjkmnp-tv-z]{10}$'),
    state      text        NOT NULL CONSTRAINT files_state CHECK (state IN ('waiting', 'picture', 'download', 'failed')),
    name       text        NOT NULL CONSTRAINT files_name CHECK (length(name) BETWEEN 1 AND 200),
    alt        text        NOT NULL DEFAULT '' CONSTRAINT files_alt CHECK (length(alt) <= 1000),
    blurhash   text        NOT NULL DEFAULT '',
    sum        bytea       NOT NULL CONSTRAINT files_sum CHECK (octet_length(sum) = 32),
    CONSTRAINT files_of_post CHECK (comment_id IS NULL OR post_id IS NOT NULL),
    CONSTRAINT files_of_one CHECK (account_id IS NULL OR post_id IS NULL)
);
COMMENT ON COLUMN files.post_id IS 'the post that it is attached to, or the post of its comment; NULL: not attached yet, and only its owner may see it';
COMMENT ON COLUMN files.account_id IS 'the account that it was uploaded for as its picture';
COMMENT ON COLUMN files.width IS 'of a picture in its full size, in pixels';
COMMENT ON COLUMN files.state IS 'waiting: a job will make a picture of it; picture; download: any other file; failed: it cannot be read as the picture that it begins like';
COMMENT ON COLUMN files.sum IS 'SHA-256 of the upload: the same form with the same files is the same request';
CREATE INDEX files_post_idx ON files (post_id, comment_id, position) WHERE post_id IS NOT NULL;
CREATE INDEX files_comment_idx ON files (comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX files_account_idx ON files (account_id) WHERE account_id IS NOT NULL;
-- How many an account has that are not attached, and the removal of those that never will be.
CREATE INDEX files_loose_idx ON files (owner_id, created_at) WHERE post_id IS NULL;
CREATE INDEX files_loose_created_idx ON files (created_at) WHERE post_id IS NULL;
CREATE INDEX files_owner_idx ON files (owner_id);

CREATE TABLE file_blobs (
    file_id bigint  NOT NULL CONSTRAINT file_blobs_file_fkey REFERENCES files ON DELETE CASCADE,
    bytes   bigint  NOT NULL,
    size    text    NOT NULL CONSTRAINT file_blobs_size CHECK (size IN ('upload', 'full', 'medium', 'thumb', 'avatar-large', 'avatar-small')),
    type    text    NOT NULL,
    sum     bytea   NOT NULL CONSTRAINT file_blobs_sum CHECK (octet_length(sum) = 32),
    CONSTRAINT file_blobs_pkey PRIMARY KEY (file_id, size)
);
COMMENT ON TABLE file_blobs IS 'the references to blobs: a blob that no row names is removed some time later';
COMMENT ON COLUMN file_blobs.size IS 'upload: the file as it came, which of a picture is kept only until it is made';
CREATE INDEX file_blobs_sum_idx ON file_blobs (sum);

ALTER TABLE accounts ADD COLUMN picture text NOT NULL DEFAULT '';
COMMENT ON COLUMN accounts.picture IS 'the code of the file that is the account''s picture, once it is made; empty: initials';
