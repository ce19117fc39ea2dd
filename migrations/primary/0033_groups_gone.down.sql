-- An older version knows no group that is gone. It takes these for private ones that nobody reads.
UPDATE accounts a SET kind = 'group' WHERE kind = 'gone' AND EXISTS (SELECT FROM timelines t WHERE t.their_id = a.id AND t.kind = 'group');
DELETE FROM readers r USING timelines t WHERE t.id = r.timeline_id AND t.access = 3;
UPDATE timelines SET access = 2 WHERE access = 3;
ALTER TABLE timelines DROP CONSTRAINT timelines_access;
ALTER TABLE timelines ADD CONSTRAINT timelines_access CHECK (access BETWEEN 0 AND 2);
COMMENT ON COLUMN timelines.access IS '0 public, 1 protected (signed in and not excluded), 2 private (readers only); it counts where gate_id = id';
COMMENT ON TABLE leaving IS 'people whose accounts are deleted after some days';
COMMENT ON COLUMN accounts.kind IS 'gone: what is left of a person who deleted their account, with nothing of theirs; rows that others rely on refer to it';
