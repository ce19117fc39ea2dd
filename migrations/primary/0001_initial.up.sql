-- The primary store: what people wrote, whom they follow, who may read what.
-- Durable, one server. Every page is made from it and never reads it while
-- warm. Instants that order something are bigints of microseconds since 1970,
-- so that "one more than the last" can be said; all others are timestamptz.

CREATE TABLE accounts (
    id          bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT accounts_pkey PRIMARY KEY,
    created_at  timestamptz NOT NULL DEFAULT now(),
    kind        text        NOT NULL CONSTRAINT accounts_kind CHECK (kind IN ('user', 'group')),
    name        text        NOT NULL CONSTRAINT accounts_name_key UNIQUE
                            CONSTRAINT accounts_name CHECK (name ~ '^[a-z0-9-]{3,35}$'),
    title       text        NOT NULL CONSTRAINT accounts_title CHECK (length(title) BETWEEN 1 AND 100),
    about       text        NOT NULL DEFAULT '' CONSTRAINT accounts_about CHECK (length(about) <= 5000),
    language    text        NOT NULL DEFAULT '' CONSTRAINT accounts_language CHECK (language IN ('', 'en', 'ru'))
);
COMMENT ON COLUMN accounts.language IS 'chosen in the settings; empty: the browser''s Accept-Language decides';
CREATE INDEX accounts_kind_name_idx ON accounts (kind, name);

CREATE TABLE credentials (
    account_id    bigint      NOT NULL CONSTRAINT credentials_pkey PRIMARY KEY
                              CONSTRAINT credentials_account_fkey REFERENCES accounts ON DELETE CASCADE,
    updated_at    timestamptz NOT NULL DEFAULT now(),
    password_hash text        NOT NULL
);
COMMENT ON TABLE credentials IS 'an account without a row here cannot sign in: groups, and people who came by import';

CREATE TABLE sessions (
    account_id bigint      NOT NULL CONSTRAINT sessions_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    token_hash bytea       NOT NULL CONSTRAINT sessions_pkey PRIMARY KEY
                           CONSTRAINT sessions_token_hash CHECK (octet_length(token_hash) = 32)
);
COMMENT ON COLUMN sessions.token_hash IS 'SHA-256 of the cookie: a read of this table signs nobody in';
CREATE INDEX sessions_account_idx ON sessions (account_id);
CREATE INDEX sessions_expires_idx ON sessions (expires_at);

CREATE TABLE timelines (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT timelines_pkey PRIMARY KEY,
    their_id   bigint      NOT NULL,
    gate_id    bigint      CONSTRAINT timelines_gate_fkey REFERENCES timelines ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    access     smallint    NOT NULL DEFAULT 0 CONSTRAINT timelines_access CHECK (access BETWEEN 0 AND 2),
    kind       text        NOT NULL CONSTRAINT timelines_kind CHECK (kind IN
                           ('feed', 'directs', 'group', 'likes', 'comments', 'discussions', 'post', 'everything')),
    term       text        NOT NULL DEFAULT '',
    CONSTRAINT timelines_name_key UNIQUE (kind, their_id, term)
);
COMMENT ON COLUMN timelines.access IS '0 public, 1 protected (signed in and not excluded), 2 private (readers only); meaningful where gate_id = id';
COMMENT ON COLUMN timelines.gate_id IS 'the timeline whose access, readers and exclusions decide who may open this one: itself for a base timeline and for discussions, the owner''s feed for likes and comments; NULL where only the posts decide (post, everything)';

-- The explicit sets of the access levels. readers holds the owner too, so that
-- one EXISTS answers for everybody.
CREATE TABLE readers (
    timeline_id bigint NOT NULL CONSTRAINT readers_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    account_id  bigint NOT NULL CONSTRAINT readers_account_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT readers_pkey PRIMARY KEY (timeline_id, account_id)
);
CREATE INDEX readers_account_idx ON readers (account_id, timeline_id);

CREATE TABLE excluded (
    timeline_id bigint NOT NULL CONSTRAINT excluded_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    account_id  bigint NOT NULL CONSTRAINT excluded_account_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT excluded_pkey PRIMARY KEY (timeline_id, account_id)
);
CREATE INDEX excluded_account_idx ON excluded (account_id, timeline_id);

CREATE TABLE subscriptions (
    subscriber_id bigint      NOT NULL CONSTRAINT subscriptions_subscriber_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id    bigint      NOT NULL CONSTRAINT subscriptions_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT subscriptions_pkey PRIMARY KEY (subscriber_id, account_id),
    CONSTRAINT subscriptions_not_self CHECK (subscriber_id <> account_id)
);
CREATE INDEX subscriptions_account_idx ON subscriptions (account_id, subscriber_id);

CREATE TABLE subscription_requests (
    subscriber_id bigint      NOT NULL CONSTRAINT subscription_requests_subscriber_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id    bigint      NOT NULL CONSTRAINT subscription_requests_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT subscription_requests_pkey PRIMARY KEY (subscriber_id, account_id),
    CONSTRAINT subscription_requests_not_self CHECK (subscriber_id <> account_id)
);
CREATE INDEX subscription_requests_account_idx ON subscription_requests (account_id, created_at);

CREATE TABLE group_admins (
    group_id   bigint NOT NULL CONSTRAINT group_admins_group_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id bigint NOT NULL CONSTRAINT group_admins_account_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT group_admins_pkey PRIMARY KEY (group_id, account_id)
);
CREATE INDEX group_admins_account_idx ON group_admins (account_id);

CREATE TABLE posts (
    id           bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT posts_pkey PRIMARY KEY,
    version      bigint      NOT NULL DEFAULT 1,
    author_id    bigint      NOT NULL CONSTRAINT posts_author_fkey REFERENCES accounts,
    fresh_at     bigint      NOT NULL,
    created_at   timestamptz NOT NULL,
    edited_at    timestamptz,
    deleted_at   timestamptz,
    is_public    boolean     NOT NULL,
    is_protected boolean     NOT NULL,
    is_private   boolean     NOT NULL,
    code         text        NOT NULL CONSTRAINT posts_code_key UNIQUE
                             CONSTRAINT posts_code CHECK (code ~ '^[0-9a-hjkmnp-tv-z]{10}$'),
    body         text        NOT NULL CONSTRAINT posts_body CHECK (octet_length(body) <= 100000),
    via          text        NOT NULL DEFAULT '',
    via_url      text        NOT NULL DEFAULT '',
    decisive     bigint[]    NOT NULL,
    CONSTRAINT posts_flags CHECK (deleted_at IS NOT NULL OR is_public OR is_protected OR is_private)
);
COMMENT ON COLUMN posts.version IS 'plus one, as its transaction''s first write, for whatever changes what anybody sees of the post; that UPDATE is the post''s lock, and stamps of versions order everything in the rivers';
COMMENT ON COLUMN posts.fresh_at IS 'microseconds; greatest(clock, fresh_at + 1), read after the lock';
COMMENT ON COLUMN posts.decisive IS 'the base timelines the post stands in, the only ones that grant the right to read it; kept beside timeline_entries so that a right is decided without scanning the rows of a much-liked post';
COMMENT ON COLUMN posts.is_public IS 'some decisive timeline is public; kept, as its two neighbours, by the transaction that changes destinations or levels';
CREATE INDEX posts_author_idx ON posts (author_id, id);

CREATE TABLE timeline_entries (
    timeline_id bigint  NOT NULL CONSTRAINT timeline_entries_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    post_id     bigint  NOT NULL CONSTRAINT timeline_entries_post_fkey REFERENCES posts ON DELETE CASCADE,
    entered_at  bigint  NOT NULL,
    fresh_at    bigint  NOT NULL,
    created_at  bigint  NOT NULL,
    withdrawn   boolean NOT NULL DEFAULT false,
    CONSTRAINT timeline_entries_pkey PRIMARY KEY (timeline_id, post_id),
    CONSTRAINT timeline_entries_fresh CHECK (fresh_at >= entered_at)
);
COMMENT ON COLUMN timeline_entries.entered_at IS 'microseconds; when the post came into this timeline. An entrance later than the post''s creation plus the local bump''s age is stored as the post''s fresh_at of that moment: it lifts nothing';
COMMENT ON COLUMN timeline_entries.fresh_at IS 'max(post''s fresh_at, entered_at), withdrawn or not; rows of a post in very many filter timelines follow a bump in blocks';
COMMENT ON COLUMN timeline_entries.created_at IS 'the post''s creation in microseconds: the order of creation';
COMMENT ON COLUMN timeline_entries.withdrawn IS 'the like or the last comment was taken back; the row stays so that doing it again keeps the first stamp and lifts nothing';
CREATE INDEX timeline_entries_fresh_idx ON timeline_entries (timeline_id, fresh_at DESC, post_id DESC);
CREATE INDEX timeline_entries_created_idx ON timeline_entries (timeline_id, created_at DESC, post_id DESC);
CREATE INDEX timeline_entries_post_idx ON timeline_entries (post_id);

CREATE TABLE comments (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT comments_pkey PRIMARY KEY,
    post_id    bigint      NOT NULL CONSTRAINT comments_post_fkey REFERENCES posts ON DELETE CASCADE,
    author_id  bigint      NOT NULL CONSTRAINT comments_author_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    edited_at  timestamptz,
    deleted_at timestamptz,
    body       text        NOT NULL CONSTRAINT comments_body CHECK (octet_length(body) <= 20000),
    via        text        NOT NULL DEFAULT ''
);
CREATE INDEX comments_post_idx ON comments (post_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX comments_author_idx ON comments (author_id, post_id) WHERE deleted_at IS NULL;

CREATE TABLE likes (
    post_id    bigint      NOT NULL CONSTRAINT likes_post_fkey REFERENCES posts ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT likes_account_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    CONSTRAINT likes_pkey PRIMARY KEY (post_id, account_id)
);
CREATE INDEX likes_post_idx ON likes (post_id, created_at DESC, account_id DESC);
CREATE INDEX likes_account_idx ON likes (account_id);

CREATE TABLE attachments (
    id       bigint   GENERATED ALWAYS AS IDENTITY CONSTRAINT attachments_pkey PRIMARY KEY,
    post_id  bigint   NOT NULL CONSTRAINT attachments_post_fkey REFERENCES posts ON DELETE CASCADE,
    bytes    bigint   NOT NULL DEFAULT 0,
    position smallint NOT NULL,
    url      text     NOT NULL,
    title    text     NOT NULL,
    CONSTRAINT attachments_position_key UNIQUE (post_id, position)
);
COMMENT ON TABLE attachments IS 'links to files that stand elsewhere';

-- A form sent twice with the same key does its work once.
CREATE TABLE keys (
    account_id bigint      NOT NULL CONSTRAINT keys_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint      CONSTRAINT keys_post_fkey REFERENCES posts ON DELETE CASCADE,
    comment_id bigint      CONSTRAINT keys_comment_fkey REFERENCES comments ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    key        text        NOT NULL CONSTRAINT keys_key CHECK (length(key) BETWEEN 1 AND 100),
    CONSTRAINT keys_pkey PRIMARY KEY (account_id, key)
);
CREATE INDEX keys_created_idx ON keys (created_at);
CREATE INDEX keys_post_idx ON keys (post_id) WHERE post_id IS NOT NULL;
CREATE INDEX keys_comment_idx ON keys (comment_id) WHERE comment_id IS NOT NULL;

-- Where what was imported came from; importing again finds it here.
CREATE TABLE origins (
    their_id    bigint NOT NULL,
    source      text   NOT NULL,
    kind        text   NOT NULL CONSTRAINT origins_kind CHECK (kind IN ('account', 'post', 'comment')),
    external_id text   NOT NULL,
    title       text   NOT NULL DEFAULT '',
    CONSTRAINT origins_pkey PRIMARY KEY (source, kind, external_id)
);
COMMENT ON COLUMN origins.title IS 'the name as it stood at the source';
CREATE INDEX origins_their_idx ON origins (kind, their_id);

-- The access clock (R4). The row is locked by the last statement of a
-- transaction, so numbers are in commit order; the log says what to forget.
CREATE TABLE access_clock (
    n  bigint  NOT NULL,
    id boolean NOT NULL DEFAULT true CONSTRAINT access_clock_pkey PRIMARY KEY CONSTRAINT access_clock_one CHECK (id)
);
INSERT INTO access_clock (n) VALUES (1);

CREATE TABLE access_log (
    n           bigint      NOT NULL,
    account_id  bigint      NOT NULL DEFAULT 0,
    timeline_id bigint      NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL DEFAULT now(),
    kind        text        NOT NULL CONSTRAINT access_log_kind CHECK (kind IN ('session', 'viewer', 'level', 'account')),
    token_hash  bytea
);
COMMENT ON COLUMN access_log.kind IS 'what a node forgets: session (token_hash), viewer (what account_id may read, whom it follows), level (timeline_id), account (name and title of account_id)';
CREATE INDEX access_log_n_idx ON access_log (n);
CREATE INDEX access_log_created_idx ON access_log (created_at);

INSERT INTO timelines (kind, their_id, gate_id) VALUES ('everything', 0, NULL);
