ALTER TABLE accounts DROP COLUMN alerts_seen;
UPDATE accounts SET notices_off = notices_off & 63 WHERE notices_off > 63;
COMMENT ON COLUMN accounts.notices_off IS 'kinds of notifications that the account does not want: kind k is bit k - 1';
DROP INDEX loads_held_idx;
DROP INDEX sources_alert_idx;
ALTER TABLE sources DROP COLUMN alert, DROP COLUMN alerted_at, DROP COLUMN failing_since;
DROP INDEX loads_single_idx;
ALTER TABLE loads DROP COLUMN single;
