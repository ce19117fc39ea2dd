-- The primary store: accounts, what they wrote, whom they follow, who may read what.
-- It is durable and stands on one server. Rivers are built from it. A page whose river
-- is built reads nothing here.
--
-- Times that order something are bigints of microseconds since 1970, so that a
-- statement can ask for "one more than the last". All other times are timestamptz.

-- Accounts and how they sign in.

CREATE TABLE accounts (
    id           bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT accounts_pkey PRIMARY KEY,
    created_at   timestamptz NOT NULL DEFAULT now(),
    friends_only boolean     NOT NULL DEFAULT false,
    kind         text        NOT NULL CONSTRAINT accounts_kind CHECK (kind IN ('user', 'group')),
    name         text        NOT NULL CONSTRAINT accounts_name_key UNIQUE
                             CONSTRAINT accounts_name CHECK (name ~ '^[a-z0-9-]{3,35}$'),
    title        text        NOT NULL CONSTRAINT accounts_title CHECK (length(title) BETWEEN 1 AND 100),
    about        text        NOT NULL DEFAULT '' CONSTRAINT accounts_about CHECK (length(about) <= 5000),
    language     text        NOT NULL DEFAULT '' CONSTRAINT accounts_language CHECK (language IN ('', 'en', 'ru'))
);
COMMENT ON COLUMN accounts.friends_only IS 'the home feed and the lists show only posts of followed accounts, where the address does not say otherwise';
COMMENT ON COLUMN accounts.language IS 'the language chosen in the settings; empty: the browser''s Accept-Language decides';
-- The lists of people and of groups are in the order of names.
CREATE INDEX accounts_kind_name_idx ON accounts (kind, name);

CREATE TABLE credentials (
    account_id    bigint      NOT NULL CONSTRAINT credentials_pkey PRIMARY KEY
                              CONSTRAINT credentials_account_fkey REFERENCES accounts ON DELETE CASCADE,
    updated_at    timestamptz NOT NULL DEFAULT now(),
    password_hash text        NOT NULL
);
COMMENT ON TABLE credentials IS 'an account without a row here cannot sign in: a group, or a person who came by import';

CREATE TABLE sessions (
    account_id bigint      NOT NULL CONSTRAINT sessions_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    token_hash bytea       NOT NULL CONSTRAINT sessions_pkey PRIMARY KEY
                           CONSTRAINT sessions_token_hash CHECK (octet_length(token_hash) = 32)
);
COMMENT ON COLUMN sessions.token_hash IS 'SHA-256 of the cookie: nobody can sign in with what stands here';
-- A new password ends all sessions of its account; expired ones are removed.
CREATE INDEX sessions_account_idx ON sessions (account_id);
CREATE INDEX sessions_expires_idx ON sessions (expires_at);

-- Timelines and who may read and write them.

CREATE TABLE timelines (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT timelines_pkey PRIMARY KEY,
    their_id   bigint      NOT NULL,
    gate_id    bigint      CONSTRAINT timelines_gate_fkey REFERENCES timelines ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    access     smallint    NOT NULL DEFAULT 0 CONSTRAINT timelines_access CHECK (access BETWEEN 0 AND 2),
    base       boolean     NOT NULL DEFAULT false,
    kind       text        NOT NULL,
    term       text        NOT NULL DEFAULT '',
    writers    text        NOT NULL DEFAULT '',
    CONSTRAINT timelines_name_key UNIQUE (kind, their_id, term),
    CONSTRAINT timelines_base CHECK (NOT base OR gate_id IS NOT DISTINCT FROM id),
    CONSTRAINT timelines_writers CHECK (CASE kind
        WHEN 'group' THEN writers IN ('anyone', 'members', 'admins')
        WHEN 'directs' THEN writers IN ('anyone', 'followed', 'mutual', 'nobody')
        ELSE writers = '' END)
);
COMMENT ON COLUMN timelines.access IS '0 public, 1 protected (signed in and not excluded), 2 private (readers only); it counts where gate_id = id';
COMMENT ON COLUMN timelines.base IS 'people put posts there, and only base timelines decide who may read a post';
COMMENT ON COLUMN timelines.kind IS 'one of the table in timelines/kinds, which says what sets it apart; base follows from it';
COMMENT ON CONSTRAINT timelines_base ON timelines IS 'a timeline without a gate opens to everybody';
COMMENT ON COLUMN timelines.gate_id IS 'the timeline whose access, readers and exclusions decide who may open this one: itself for a base timeline and for discussions, faves and mentions, the owner''s feed for likes and comments; NULL where only the posts decide (post, hashtag and the aggregates)';
COMMENT ON COLUMN timelines.writers IS 'who may put posts here: into a group anyone (who may read it), members or admins; into directs anyone, followed (accounts that the owner follows), mutual (and that follow back) or nobody; empty elsewhere: the owner alone, or the site itself. It stands beside the level because a new post locks this row anyway: a change of policy and a post that relied on it wait for each other';
-- A sub-feed that is deleted takes along the timelines of which it is the gate.
CREATE INDEX timelines_gate_idx ON timelines (gate_id) WHERE gate_id IS NOT NULL;

-- The posts of all, and those in each known language.
INSERT INTO timelines (kind, their_id, term)
SELECT kind, 0, term FROM unnest(ARRAY['everything', 'best', 'mostfaved']) kind, unnest(ARRAY['', 'en', 'ru']) term
ORDER BY kind, term;

CREATE TABLE subfeeds (
    timeline_id bigint NOT NULL CONSTRAINT subfeeds_pkey PRIMARY KEY
                       CONSTRAINT subfeeds_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    title       text   NOT NULL CONSTRAINT subfeeds_title CHECK (length(title) BETWEEN 1 AND 100)
);
COMMENT ON TABLE subfeeds IS 'the titles of sub-feeds; the private one that everyone has needs no row: each language has a name for it';

-- The explicit sets of the access levels. Nobody is in both sets of a timeline.
CREATE TABLE readers (
    timeline_id bigint  NOT NULL CONSTRAINT readers_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    account_id  bigint  NOT NULL CONSTRAINT readers_account_fkey REFERENCES accounts ON DELETE CASCADE,
    admitted    boolean NOT NULL DEFAULT false,
    CONSTRAINT readers_pkey PRIMARY KEY (timeline_id, account_id)
);
COMMENT ON TABLE readers IS 'who may read a private timeline, its owner included, so that one EXISTS answers for everybody';
COMMENT ON COLUMN readers.admitted IS 'of a group: let in by an administrator; false for its members and administrators, who read because they are, and in all other timelines';
CREATE INDEX readers_account_idx ON readers (account_id, timeline_id);
CREATE INDEX readers_admitted_idx ON readers (timeline_id, account_id) WHERE admitted;

CREATE TABLE excluded (
    timeline_id bigint NOT NULL CONSTRAINT excluded_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    account_id  bigint NOT NULL CONSTRAINT excluded_account_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT excluded_pkey PRIMARY KEY (timeline_id, account_id)
);
COMMENT ON TABLE excluded IS 'who may not read a protected timeline';
CREATE INDEX excluded_account_idx ON excluded (account_id, timeline_id);

-- Subscriptions, lists and groups.

CREATE TABLE subscriptions (
    subscriber_id bigint      NOT NULL CONSTRAINT subscriptions_subscriber_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id    bigint      NOT NULL CONSTRAINT subscriptions_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT now(),
    in_home       boolean     NOT NULL DEFAULT true,
    CONSTRAINT subscriptions_pkey PRIMARY KEY (subscriber_id, account_id),
    CONSTRAINT subscriptions_not_self CHECK (subscriber_id <> account_id)
);
COMMENT ON COLUMN subscriptions.in_home IS 'false: kept out of the home feed, for its lists and its own page alone';
CREATE INDEX subscriptions_account_idx ON subscriptions (account_id, subscriber_id);

CREATE TABLE subscription_requests (
    subscriber_id bigint      NOT NULL CONSTRAINT subscription_requests_subscriber_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id    bigint      NOT NULL CONSTRAINT subscription_requests_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT subscription_requests_pkey PRIMARY KEY (subscriber_id, account_id),
    CONSTRAINT subscription_requests_not_self CHECK (subscriber_id <> account_id)
);
-- The page of requests is in the order of time.
CREATE INDEX subscription_requests_account_idx ON subscription_requests (account_id, created_at);

CREATE TABLE lists (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT lists_pkey PRIMARY KEY,
    account_id bigint      NOT NULL CONSTRAINT lists_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    slug       text        NOT NULL CONSTRAINT lists_slug CHECK (slug ~ '^[a-z0-9-]{1,35}$'),
    title      text        NOT NULL CONSTRAINT lists_title CHECK (length(title) BETWEEN 1 AND 100),
    CONSTRAINT lists_slug_key UNIQUE (account_id, slug),
    CONSTRAINT lists_owner_key UNIQUE (id, account_id)
);
COMMENT ON TABLE lists IS 'further home feeds, each of some of the accounts that its owner follows';
COMMENT ON COLUMN lists.slug IS 'the last segment of the list''s address; it never changes';
COMMENT ON CONSTRAINT lists_owner_key ON lists IS 'the key that list_members_list_fkey refers to';

-- A member is an account that the list's owner follows: when the subscription ends, by
-- whatever way, its rows here end with it.
CREATE TABLE list_members (
    list_id       bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    account_id    bigint NOT NULL,
    CONSTRAINT list_members_pkey PRIMARY KEY (list_id, account_id),
    CONSTRAINT list_members_list_fkey FOREIGN KEY (list_id, subscriber_id)
        REFERENCES lists (id, account_id) ON DELETE CASCADE,
    CONSTRAINT list_members_subscription_fkey FOREIGN KEY (subscriber_id, account_id)
        REFERENCES subscriptions ON DELETE CASCADE
);
COMMENT ON COLUMN list_members.subscriber_id IS 'the list''s owner';
CREATE INDEX list_members_subscription_idx ON list_members (subscriber_id, account_id);

CREATE TABLE group_admins (
    group_id   bigint NOT NULL CONSTRAINT group_admins_group_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id bigint NOT NULL CONSTRAINT group_admins_account_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT group_admins_pkey PRIMARY KEY (group_id, account_id)
);
CREATE INDEX group_admins_account_idx ON group_admins (account_id);

CREATE TABLE group_blocks (
    group_id   bigint      NOT NULL CONSTRAINT group_blocks_group_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT group_blocks_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT group_blocks_pkey PRIMARY KEY (group_id, account_id)
);
COMMENT ON TABLE group_blocks IS 'accounts that may neither post to the group nor comment in it; they may read as before';
CREATE INDEX group_blocks_account_idx ON group_blocks (account_id);

-- Posts and what people say and do about them.

CREATE TABLE posts (
    id           bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT posts_pkey PRIMARY KEY,
    version      bigint      NOT NULL DEFAULT 1,
    author_id    bigint      NOT NULL CONSTRAINT posts_author_fkey REFERENCES accounts,
    fresh_at     bigint      NOT NULL,
    created_at   timestamptz NOT NULL,
    edited_at    timestamptz,
    deleted_at   timestamptz,
    is_public    boolean     NOT NULL,
    lang_chosen  boolean     NOT NULL DEFAULT false,
    lang_guessed boolean     NOT NULL DEFAULT false,
    lang         text        NOT NULL DEFAULT '' CONSTRAINT posts_lang CHECK (lang ~ '^([a-z]{2})?$'),
    code         text        NOT NULL CONSTRAINT posts_code_key UNIQUE
                             CONSTRAINT posts_code CHECK (code ~ '^[0-9a-hjkmnp-tv-z]{10}$'),
    body         text        NOT NULL CONSTRAINT posts_body CHECK (octet_length(body) <= 400000),
    via          text        NOT NULL DEFAULT '',
    via_url      text        NOT NULL DEFAULT '',
    decisive     bigint[]    NOT NULL,
    CONSTRAINT posts_decisive CHECK (deleted_at IS NOT NULL OR cardinality(decisive) > 0)
);
COMMENT ON COLUMN posts.version IS 'each change of what anybody sees of the post adds one, as its transaction''s first write; that UPDATE is the post''s lock, and versions order all that rivers hold of the post';
COMMENT ON COLUMN posts.fresh_at IS 'microseconds; greatest(clock, fresh_at + 1), read after the lock';
COMMENT ON COLUMN posts.decisive IS 'the base timelines the post stands in, the only ones that grant the right to read it; kept beside timeline_entries so that a right is decided without scanning the rows of a much-liked post';
COMMENT ON COLUMN posts.is_public IS 'some decisive timeline is public; kept by the transaction that changes destinations or levels, or after it: see unflagged_timelines';
COMMENT ON COLUMN posts.lang IS 'ISO 639-1, of the languages that posts are told apart by; empty: none of them, or not surely';
COMMENT ON COLUMN posts.lang_chosen IS 'the author chose the language; otherwise the text shows it, and each edit looks again';
COMMENT ON COLUMN posts.lang_guessed IS 'the text says too little of its language, which was taken from other posts of its author or group; so it says nothing of theirs';
COMMENT ON CONSTRAINT posts_body ON posts IS 'as many bytes as 100,000 characters may take; the program counts characters, here each change of a post would have to read its text for it';
CREATE INDEX posts_author_idx ON posts (author_id, id);

CREATE TABLE comments (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT comments_pkey PRIMARY KEY,
    post_id    bigint      NOT NULL CONSTRAINT comments_post_fkey REFERENCES posts ON DELETE CASCADE,
    author_id  bigint      NOT NULL CONSTRAINT comments_author_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    edited_at  timestamptz,
    deleted_at timestamptz,
    body       text        NOT NULL CONSTRAINT comments_body CHECK (octet_length(body) <= 80000),
    via        text        NOT NULL DEFAULT ''
);
COMMENT ON CONSTRAINT comments_body ON comments IS 'as many bytes as 20,000 characters may take';
CREATE INDEX comments_post_idx ON comments (post_id, created_at, id) WHERE deleted_at IS NULL;
-- Whether somebody still has a comment under a post.
CREATE INDEX comments_author_idx ON comments (author_id, post_id) WHERE deleted_at IS NULL;

CREATE TABLE likes (
    post_id    bigint      NOT NULL CONSTRAINT likes_post_fkey REFERENCES posts ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT likes_account_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    CONSTRAINT likes_pkey PRIMARY KEY (post_id, account_id)
);
-- A fold names the latest likes.
CREATE INDEX likes_post_idx ON likes (post_id, created_at DESC, account_id DESC);
CREATE INDEX likes_account_idx ON likes (account_id);

-- Likes of comments lift nothing and bring no post to any timeline.
CREATE TABLE comment_likes (
    comment_id bigint      NOT NULL CONSTRAINT comment_likes_comment_fkey REFERENCES comments ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT comment_likes_account_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    CONSTRAINT comment_likes_pkey PRIMARY KEY (comment_id, account_id)
);
CREATE INDEX comment_likes_account_idx ON comment_likes (account_id);

CREATE TABLE faves (
    post_id    bigint      NOT NULL CONSTRAINT faves_post_fkey REFERENCES posts ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT faves_account_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    CONSTRAINT faves_pkey PRIMARY KEY (post_id, account_id)
);
COMMENT ON TABLE faves IS 'posts that people save for themselves; everybody who may read the post sees how many saved it, and nobody sees who';
CREATE INDEX faves_account_idx ON faves (account_id);

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

-- A form that is sent twice with the same key does its work once.
CREATE TABLE keys (
    account_id bigint      NOT NULL CONSTRAINT keys_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint      NOT NULL CONSTRAINT keys_post_fkey REFERENCES posts ON DELETE CASCADE,
    comment_id bigint      CONSTRAINT keys_comment_fkey REFERENCES comments ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    key        text        NOT NULL CONSTRAINT keys_key CHECK (length(key) BETWEEN 1 AND 100),
    asked      bytea       NOT NULL CONSTRAINT keys_asked CHECK (length(asked) = 32),
    CONSTRAINT keys_pkey PRIMARY KEY (account_id, key)
);
COMMENT ON COLUMN keys.asked IS 'SHA-256 of what the form asked for (timelines/keys.go): the same key with other content is another request';
-- Old keys are removed.
CREATE INDEX keys_created_idx ON keys (created_at);
CREATE INDEX keys_post_idx ON keys (post_id);
CREATE INDEX keys_comment_idx ON keys (comment_id) WHERE comment_id IS NOT NULL;

CREATE TABLE origins (
    their_id    bigint NOT NULL,
    source      text   NOT NULL,
    kind        text   NOT NULL CONSTRAINT origins_kind CHECK (kind IN ('account', 'post', 'comment')),
    external_id text   NOT NULL,
    title       text   NOT NULL DEFAULT '',
    CONSTRAINT origins_pkey PRIMARY KEY (source, kind, external_id)
);
COMMENT ON TABLE origins IS 'where each imported thing came from; another import finds it by this';
COMMENT ON COLUMN origins.title IS 'the name at the source, or the address of a post';

-- Which posts stand in which timelines. This is the largest table, and its indexes are
-- its cost.

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
COMMENT ON COLUMN timeline_entries.entered_at IS 'microseconds; when the post came into this timeline. If it came later than the local bump''s age after its creation, this is the post''s fresh_at of that moment: it lifts nothing';
COMMENT ON COLUMN timeline_entries.fresh_at IS 'max(post''s fresh_at, entered_at), withdrawn or not; rows of a post in very many filter timelines follow a bump in blocks';
COMMENT ON COLUMN timeline_entries.created_at IS 'the post''s creation in microseconds: the order of creation';
COMMENT ON COLUMN timeline_entries.withdrawn IS 'the like or the last comment was taken back; the row stays so that doing it again keeps the first stamp and lifts nothing';
-- The two orders of a timeline, and all timelines of a post.
CREATE INDEX timeline_entries_fresh_idx ON timeline_entries (timeline_id, fresh_at DESC, post_id DESC);
CREATE INDEX timeline_entries_created_idx ON timeline_entries (timeline_id, created_at DESC, post_id DESC);
CREATE INDEX timeline_entries_post_idx ON timeline_entries (post_id);

CREATE TABLE text_marks (
    post_id     bigint NOT NULL CONSTRAINT text_marks_post_fkey REFERENCES posts ON DELETE CASCADE,
    comment_id  bigint NOT NULL,
    timeline_id bigint NOT NULL CONSTRAINT text_marks_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    CONSTRAINT text_marks_pkey PRIMARY KEY (post_id, comment_id, timeline_id)
);
COMMENT ON TABLE text_marks IS 'the timelines into which the tags and @names of a post''s texts bring it, by text: the post leaves one when the last text that names it goes. Kept beside the bodies so that nobody reads thousands of comments to learn that';
COMMENT ON COLUMN text_marks.comment_id IS 'the comment; 0 is the post''s own text';
CREATE INDEX text_marks_timeline_idx ON text_marks (timeline_id);

-- Bans and hides. They act where something is shown or done, and never change what is
-- stored of posts and timelines.

CREATE TABLE bans (
    account_id bigint      NOT NULL CONSTRAINT bans_account_fkey REFERENCES accounts ON DELETE CASCADE,
    banned_id  bigint      NOT NULL CONSTRAINT bans_banned_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT bans_pkey PRIMARY KEY (account_id, banned_id),
    CONSTRAINT bans_not_self CHECK (account_id <> banned_id)
);
COMMENT ON TABLE bans IS 'a ban hides two people from each other, whoever of them set it';
CREATE INDEX bans_banned_idx ON bans (banned_id, account_id);

CREATE TABLE show_banned (
    account_id bigint NOT NULL CONSTRAINT show_banned_account_fkey REFERENCES accounts ON DELETE CASCADE,
    group_id   bigint NOT NULL CONSTRAINT show_banned_group_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT show_banned_pkey PRIMARY KEY (account_id, group_id)
);
COMMENT ON TABLE show_banned IS 'groups in which the account wants to see people in spite of bans';
CREATE INDEX show_banned_group_idx ON show_banned (group_id);

-- Hides concern nobody but the account that sets them.
CREATE TABLE hidden_posts (
    account_id bigint      NOT NULL CONSTRAINT hidden_posts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint      NOT NULL CONSTRAINT hidden_posts_post_fkey REFERENCES posts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT hidden_posts_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX hidden_posts_post_idx ON hidden_posts (post_id);
-- The page of hidden posts shows the last one first.
CREATE INDEX hidden_posts_created_idx ON hidden_posts (account_id, created_at DESC, post_id DESC);

CREATE TABLE hidden_accounts (
    account_id bigint      NOT NULL CONSTRAINT hidden_accounts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    hidden_id  bigint      NOT NULL CONSTRAINT hidden_accounts_hidden_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT hidden_accounts_pkey PRIMARY KEY (account_id, hidden_id),
    CONSTRAINT hidden_accounts_not_self CHECK (account_id <> hidden_id)
);
COMMENT ON TABLE hidden_accounts IS 'people and groups';
CREATE INDEX hidden_accounts_hidden_idx ON hidden_accounts (hidden_id);

CREATE TABLE hidden_terms (
    account_id bigint      NOT NULL CONSTRAINT hidden_terms_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    term       text        NOT NULL CONSTRAINT hidden_terms_term CHECK (length(term) BETWEEN 1 AND 100),
    CONSTRAINT hidden_terms_pkey PRIMARY KEY (account_id, term)
);
COMMENT ON COLUMN hidden_terms.term IS 'lower case; a tag with its #, or one or several words';

-- The access clock (R4). The last statement of a transaction locks the row, so numbers
-- are in the order of commits; the log says what nodes must read again.

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
    kind        text        NOT NULL CONSTRAINT access_log_kind CHECK (kind IN ('session', 'viewer', 'level', 'account', 'members')),
    token_hash  bytea
);
COMMENT ON COLUMN access_log.kind IS 'what a node drops from its cache: session (token_hash), viewer (what account_id may read, whom it follows), level (timeline_id), account (name and title of account_id), members (how many follow account_id)';
CREATE INDEX access_log_n_idx ON access_log (n);
-- Old rows are removed.
CREATE INDEX access_log_created_idx ON access_log (created_at);

-- Work that follows changes in the background.

CREATE TABLE behind (
    id         bigint   GENERATED ALWAYS AS IDENTITY CONSTRAINT behind_pkey PRIMARY KEY,
    post_id    bigint   NOT NULL,
    changed_at bigint   NOT NULL,
    timelines  bigint[] NOT NULL
);
COMMENT ON TABLE behind IS 'changes that Tier 1 has brought to the open rivers and Tier 2 has still to bring to all others; each finished distribute job adds to it, follow jobs empty it in batches, and only package jobs writes it. It has no foreign key: a lock on the post would make Tier 1 wait for the post''s own traffic, and a row about a post that is gone does no harm';
COMMENT ON COLUMN behind.changed_at IS 'microseconds; when the change was announced, for measuring the lag';
COMMENT ON COLUMN behind.timelines IS 'the timelines the post entered, left or was bumped in; empty: only its fold changed';

CREATE TABLE unflagged_timelines (
    timeline_id bigint NOT NULL CONSTRAINT unflagged_timelines_pkey PRIMARY KEY
                       CONSTRAINT unflagged_timelines_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    after       bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE unflagged_timelines IS 'base timelines of many posts whose level changed: posts.is_public of their posts beyond after may be as it was before, and nobody relies on it for a post that stands in one of them (timelines/upkeep.go)';
