-- What the pages that posts link to say of themselves.

CREATE TABLE links (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT links_pkey PRIMARY KEY,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    read_at    timestamptz,
    bytes      bigint      NOT NULL DEFAULT 0,
    width      integer     NOT NULL DEFAULT 0,
    height     integer     NOT NULL DEFAULT 0,
    url        text        NOT NULL CONSTRAINT links_url_key UNIQUE CONSTRAINT links_url CHECK (octet_length(url) <= 2048),
    title      text        NOT NULL DEFAULT '',
    about      text        NOT NULL DEFAULT '',
    site       text        NOT NULL DEFAULT '',
    host       text        NOT NULL DEFAULT '',
    type       text        NOT NULL DEFAULT '',
    blurhash   text        NOT NULL DEFAULT '',
    picture    bytea       CONSTRAINT links_picture CHECK (octet_length(picture) = 32)
);
COMMENT ON COLUMN links.asked_at IS 'when a job was last asked to read the page';
COMMENT ON COLUMN links.read_at IS 'when it was last read; NULL: not yet';
COMMENT ON COLUMN links.host IS 'as it is shown; empty: the page could not be read, or says nothing';
COMMENT ON COLUMN links.picture IS 'the sum of the blob of a small picture; width, height, bytes, type and blurhash are of it';
CREATE INDEX links_picture_idx ON links (picture) WHERE picture IS NOT NULL;

CREATE TABLE post_links (
    post_id bigint NOT NULL CONSTRAINT post_links_pkey PRIMARY KEY CONSTRAINT post_links_post_fkey REFERENCES posts ON DELETE CASCADE,
    link_id bigint NOT NULL CONSTRAINT post_links_link_fkey REFERENCES links ON DELETE CASCADE
);
COMMENT ON TABLE post_links IS 'the first link of a post, which its preview is of';
CREATE INDEX post_links_link_idx ON post_links (link_id, post_id);
