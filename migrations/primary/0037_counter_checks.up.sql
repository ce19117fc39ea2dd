-- When counters of authors were last compared with their posts, for all nodes together.
CREATE TABLE counter_checks (
    checked_at timestamptz NOT NULL DEFAULT now(),
    one        boolean     NOT NULL DEFAULT true CONSTRAINT counter_checks_pkey PRIMARY KEY CONSTRAINT counter_checks_one CHECK (one)
);
COMMENT ON TABLE counter_checks IS 'one row: when a chore last repaired the counters of some authors (publishing.Store.RepairSample)';
INSERT INTO counter_checks DEFAULT VALUES;
