-- Who may write where, and whom a group has blocked. The policy stands in the
-- timeline's own row, beside its level: a new post holds that row anyway, so a
-- change of policy and a post that relied on it wait for each other.
ALTER TABLE timelines ADD COLUMN writers text NOT NULL DEFAULT '';
COMMENT ON COLUMN timelines.writers IS 'who may put posts here: of a group anyone (who may read it), members or admins; of directs anyone, followed (whom the owner follows), mutual (who follows back) or nobody; empty elsewhere: the owner alone, or the site itself';

-- As it was until now.
UPDATE timelines SET writers = CASE WHEN kind = 'directs' OR access = 0 THEN 'anyone' ELSE 'members' END
WHERE kind IN ('group', 'directs');

ALTER TABLE timelines ADD CONSTRAINT timelines_writers CHECK (CASE kind
    WHEN 'group' THEN writers IN ('anyone', 'members', 'admins')
    WHEN 'directs' THEN writers IN ('anyone', 'followed', 'mutual', 'nobody')
    ELSE writers = '' END);

CREATE TABLE group_blocks (
    group_id   bigint      NOT NULL CONSTRAINT group_blocks_group_fkey REFERENCES accounts ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT group_blocks_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT group_blocks_pkey PRIMARY KEY (group_id, account_id)
);
COMMENT ON TABLE group_blocks IS 'who may neither post to the group nor comment in it; reading is not concerned';
CREATE INDEX group_blocks_account_idx ON group_blocks (account_id);
