-- Moderation: opinions on posts, posts that only their author sees meanwhile, and approval by groups (source: 002, G12).

ALTER TABLE timelines ADD COLUMN approves boolean NOT NULL DEFAULT false
    CONSTRAINT timelines_approves CHECK (NOT approves OR kind = 'group');
COMMENT ON COLUMN timelines.approves IS 'of a group: posts of others than its administrators wait until one of these lets them in';

CREATE TABLE opinions (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT opinions_pkey PRIMARY KEY,
    post_id    bigint      NOT NULL CONSTRAINT opinions_post_fkey REFERENCES posts ON DELETE CASCADE,
    no         bigint      NOT NULL CONSTRAINT opinions_no CHECK (no > 0),
    by_id      bigint      CONSTRAINT opinions_by_fkey REFERENCES accounts ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    origin     text        NOT NULL CONSTRAINT opinions_origin CHECK (origin ~ '^[a-z0-9._-]{1,50}$'),
    opinion_id text        NOT NULL CONSTRAINT opinions_opinion_id CHECK (octet_length(opinion_id) BETWEEN 1 AND 200),
    decision   text        NOT NULL CONSTRAINT opinions_decision CHECK (decision IN ('block', 'allow', 'note')),
    reason     text        NOT NULL,
    CONSTRAINT opinions_origin_key UNIQUE (origin, opinion_id)
);
COMMENT ON TABLE opinions IS 'what moderators and their programs think of posts; package moderation says which of them count';
COMMENT ON COLUMN opinions.no IS 'drawn by the origin: of its opinions on a post the one with the greatest number counts';
COMMENT ON COLUMN opinions.origin IS '"staff" for what people decide on pages, else a program''s own name';
CREATE INDEX opinions_post_idx ON opinions (post_id, origin, no DESC, id DESC);
CREATE INDEX opinions_by_idx ON opinions (by_id) WHERE by_id IS NOT NULL;

CREATE TABLE held_posts (
    post_id    bigint      CONSTRAINT held_posts_pkey PRIMARY KEY CONSTRAINT held_posts_post_fkey REFERENCES posts ON DELETE CASCADE,
    author_id  bigint      NOT NULL CONSTRAINT held_posts_author_fkey REFERENCES accounts ON DELETE CASCADE,
    blocked_at timestamptz,
    published  boolean     NOT NULL,
    reason     text        NOT NULL DEFAULT '',
    places     bigint[]    NOT NULL
);
COMMENT ON TABLE held_posts IS 'posts with status 1 or 2: only the author reads them, in the timeline for their eyes only';
COMMENT ON COLUMN held_posts.places IS 'the decisive timelines to which the post goes when it is let out; those that are no more by then are left out';
COMMENT ON COLUMN held_posts.published IS 'others could read it before';
CREATE INDEX held_posts_author_idx ON held_posts (author_id);

CREATE TABLE approvals (
    post_id    bigint      NOT NULL CONSTRAINT approvals_post_fkey REFERENCES posts ON DELETE CASCADE,
    group_id   bigint      NOT NULL CONSTRAINT approvals_group_fkey REFERENCES accounts ON DELETE CASCADE,
    author_id  bigint      NOT NULL CONSTRAINT approvals_author_fkey REFERENCES accounts ON DELETE CASCADE,
    asked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    refused_at timestamptz,
    reason     text        NOT NULL DEFAULT '',
    CONSTRAINT approvals_pkey PRIMARY KEY (post_id, group_id)
);
COMMENT ON TABLE approvals IS 'groups that a post waits for, and those that refused it; a row goes when the group lets it in';
CREATE INDEX approvals_group_idx ON approvals (group_id, post_id);
CREATE INDEX approvals_author_idx ON approvals (author_id);
