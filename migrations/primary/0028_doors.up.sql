-- Doors: invitations, and people who ask to be let in.

CREATE TABLE invitations (
    id           bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT invitations_pkey PRIMARY KEY,
    by_id        bigint      CONSTRAINT invitations_by_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    withdrawn_at timestamptz,
    uses         integer     NOT NULL,
    used         integer     NOT NULL DEFAULT 0,
    code         text        NOT NULL CONSTRAINT invitations_code_key UNIQUE CONSTRAINT invitations_code CHECK (code ~ '^[A-Z2-7]{26}$'),
    note         text        NOT NULL DEFAULT '' CONSTRAINT invitations_note CHECK (length(note) <= 200),
    CONSTRAINT invitations_uses CHECK (uses BETWEEN 1 AND 1000 AND used BETWEEN 0 AND uses)
);
COMMENT ON TABLE invitations IS 'links by which people sign up';
COMMENT ON COLUMN invitations.by_id IS 'NULL: the command line';
COMMENT ON COLUMN invitations.uses IS 'how many may sign up by it, of whom used have';
COMMENT ON COLUMN invitations.code IS 'stands in the link. It is kept as it is, because its maker gives the link to one more person later; it lets somebody sign up and do nothing else';
CREATE INDEX invitations_by_idx ON invitations (by_id, id) WHERE by_id IS NOT NULL;

CREATE TABLE invitation_groups (
    invitation_id bigint NOT NULL CONSTRAINT invitation_groups_invitation_fkey REFERENCES invitations ON DELETE CASCADE,
    group_id      bigint NOT NULL CONSTRAINT invitation_groups_group_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT invitation_groups_pkey PRIMARY KEY (invitation_id, group_id)
);
COMMENT ON TABLE invitation_groups IS 'the groups that people join who sign up by an invitation, if its maker is still in charge of them';
CREATE INDEX invitation_groups_group_idx ON invitation_groups (group_id);

CREATE TABLE invited (
    account_id    bigint      NOT NULL CONSTRAINT invited_pkey PRIMARY KEY
                              CONSTRAINT invited_account_fkey REFERENCES accounts ON DELETE CASCADE,
    invitation_id bigint      NOT NULL CONSTRAINT invited_invitation_fkey REFERENCES invitations ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE invited IS 'who signed up by which invitation';
CREATE INDEX invited_invitation_idx ON invited (invitation_id, account_id);

CREATE TABLE applications (
    account_id bigint      NOT NULL CONSTRAINT applications_pkey PRIMARY KEY
                           CONSTRAINT applications_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    refused_at timestamptz,
    sentence   text        NOT NULL CONSTRAINT applications_sentence CHECK (length(sentence) BETWEEN 1 AND 500),
    answer     text        NOT NULL DEFAULT '' CONSTRAINT applications_answer CHECK (length(answer) <= 1000)
);
COMMENT ON TABLE applications IS 'accounts that wait to be let in, or were refused; each is among unseen_accounts as waiting, and cannot sign in';
COMMENT ON COLUMN applications.refused_at IS 'NULL: nobody has answered yet';
CREATE INDEX applications_waiting_idx ON applications (account_id) WHERE refused_at IS NULL;
CREATE INDEX applications_refused_idx ON applications (account_id) WHERE refused_at IS NOT NULL;
