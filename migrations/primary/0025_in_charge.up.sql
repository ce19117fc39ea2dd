-- In charge: administrators and moderators, what they do, and the site's own settings.

CREATE TABLE staff (
    account_id bigint      NOT NULL CONSTRAINT staff_pkey PRIMARY KEY
                           CONSTRAINT staff_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    role       text        NOT NULL CONSTRAINT staff_role CHECK (role IN ('administrator', 'moderator'))
);
COMMENT ON TABLE staff IS 'who is in charge of the site; a moderator answers reports, removes posts and suspends, an administrator does everything';

CREATE TABLE suspensions (
    account_id bigint      NOT NULL CONSTRAINT suspensions_pkey PRIMARY KEY
                           CONSTRAINT suspensions_account_fkey REFERENCES accounts ON DELETE CASCADE,
    by_id      bigint      CONSTRAINT suspensions_by_fkey REFERENCES accounts ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at    timestamptz,
    reason     text        NOT NULL CONSTRAINT suspensions_reason CHECK (length(reason) <= 1000)
);
COMMENT ON TABLE suspensions IS 'people who may not sign in; a row in unseen_accounts says that nobody sees what they wrote either';
COMMENT ON COLUMN suspensions.by_id IS 'NULL: by the command line, or by somebody who is gone';
COMMENT ON COLUMN suspensions.ends_at IS 'NULL: for good';
-- A job lifts those whose time is over.
CREATE INDEX suspensions_ends_idx ON suspensions (ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX suspensions_by_idx ON suspensions (by_id) WHERE by_id IS NOT NULL;

CREATE TABLE unseen_accounts (
    account_id bigint NOT NULL CONSTRAINT unseen_accounts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    cause      text   NOT NULL CONSTRAINT unseen_accounts_cause CHECK (cause IN ('suspended', 'waiting', 'leaving', 'removal')),
    CONSTRAINT unseen_accounts_pkey PRIMARY KEY (account_id, cause)
);
COMMENT ON TABLE unseen_accounts IS 'accounts of which only the staff see anything: page, posts, comments, likes';
COMMENT ON COLUMN unseen_accounts.cause IS 'suspended and hidden; waiting to be let in; leaving, before the account is deleted; removal, while a job removes what they wrote';

CREATE TABLE acts (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT acts_pkey PRIMARY KEY,
    by_id      bigint      CONSTRAINT acts_by_fkey REFERENCES accounts ON DELETE SET NULL,
    account_id bigint      CONSTRAINT acts_account_fkey REFERENCES accounts ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    by_name    text        NOT NULL,
    kind       text        NOT NULL CONSTRAINT acts_kind CHECK (kind ~ '^[a-z_]{1,40}$'),
    subject    text        NOT NULL,
    detail     text        NOT NULL DEFAULT ''
);
COMMENT ON TABLE acts IS 'the audit log: each act of an administrator or a moderator, also those by the command line; rows are never changed';
COMMENT ON COLUMN acts.by_name IS 'the name at that time, empty: the command line';
COMMENT ON COLUMN acts.account_id IS 'whom it concerned, if anybody';
COMMENT ON COLUMN acts.subject IS 'what it was done to: the name of an account, the code of a post, of a report, of an invitation, or empty';
COMMENT ON COLUMN acts.detail IS 'a reason, or what was set; never a password or a token';
CREATE INDEX acts_account_idx ON acts (account_id, id) WHERE account_id IS NOT NULL;
CREATE INDEX acts_by_idx ON acts (by_id, id) WHERE by_id IS NOT NULL;

CREATE TABLE account_links (
    account_id bigint      CONSTRAINT account_links_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    purpose    text        NOT NULL CONSTRAINT account_links_purpose CHECK (purpose IN ('password', 'appeal', 'administrator')),
    token_hash bytea       NOT NULL CONSTRAINT account_links_pkey PRIMARY KEY
                           CONSTRAINT account_links_token_hash CHECK (octet_length(token_hash) = 32),
    CONSTRAINT account_links_account CHECK ((account_id IS NULL) = (purpose = 'administrator'))
);
COMMENT ON TABLE account_links IS 'addresses that work once: password has somebody choose a password, appeal lets a suspended person write to the staff, administrator makes the first administrator';
COMMENT ON COLUMN account_links.token_hash IS 'SHA-256 of what stands in the address';
CREATE INDEX account_links_account_idx ON account_links (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX account_links_expires_idx ON account_links (expires_at);

CREATE TABLE site (
    one           boolean     NOT NULL DEFAULT true CONSTRAINT site_pkey PRIMARY KEY CONSTRAINT site_one CHECK (one),
    private       boolean,
    indexed       boolean     NOT NULL DEFAULT true,
    rules_version integer     NOT NULL DEFAULT 0,
    updated_at    timestamptz NOT NULL DEFAULT now(),
    signup        text        CONSTRAINT site_signup CHECK (signup IN ('open', 'invitation', 'approval', 'closed')),
    name          text        NOT NULL DEFAULT '' CONSTRAINT site_name CHECK (length(name) <= 60),
    purpose       text        NOT NULL DEFAULT '' CONSTRAINT site_purpose CHECK (length(purpose) <= 200),
    about         text        NOT NULL DEFAULT '' CONSTRAINT site_about CHECK (length(about) <= 20000),
    rules         text        NOT NULL DEFAULT '' CONSTRAINT site_rules CHECK (length(rules) <= 20000),
    contact       text        NOT NULL DEFAULT '' CONSTRAINT site_contact CHECK (length(contact) <= 200),
    language      text        NOT NULL DEFAULT '' CONSTRAINT site_language CHECK (language IN ('', 'en', 'ru'))
);
COMMENT ON TABLE site IS 'what the site says of itself, and its doors: one row';
COMMENT ON COLUMN site.private IS 'nothing is shown without signing in; NULL: as RIVERRUN_PRIVATE says';
COMMENT ON COLUMN site.signup IS 'who may sign up; NULL: as RIVERRUN_SIGNUP says';
COMMENT ON COLUMN site.indexed IS 'search engines may list public pages';
COMMENT ON COLUMN site.rules_version IS 'raised when people have to agree to the rules again';
COMMENT ON COLUMN site.name IS 'empty: riverrun';
INSERT INTO site DEFAULT VALUES;

ALTER TABLE access_log DROP CONSTRAINT access_log_kind;
ALTER TABLE access_log ADD CONSTRAINT access_log_kind CHECK (kind IN ('session', 'viewer', 'level', 'account', 'members', 'start', 'unseen', 'site'));
COMMENT ON COLUMN access_log.kind IS 'what a node drops from its cache: session (token_hash), viewer (what account_id may read, whom it follows), level (timeline_id), account (name and title of account_id), members (how many follow account_id), start (nothing: a node has started), unseen (who is seen by nobody, and so what anybody sees), site (the settings of the site)';
