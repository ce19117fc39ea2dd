-- Groups that are being deleted.

ALTER TABLE timelines DROP CONSTRAINT timelines_access;
ALTER TABLE timelines ADD CONSTRAINT timelines_access CHECK (access BETWEEN 0 AND 3);
COMMENT ON COLUMN timelines.access IS '0 public, 1 protected (signed in and not excluded), 2 private (readers only), 3 ended (nobody, of a group that is being deleted, and for ever); it counts where gate_id = id';
COMMENT ON COLUMN accounts.kind IS 'gone: what is left of a person or a group that was deleted, with nothing of theirs; rows that others rely on refer to it';
COMMENT ON TABLE leaving IS 'people whose accounts are deleted after some days, and groups that are being deleted';
