-- Single items that a program sends make a load of their own, which is no list.
ALTER TABLE loads ADD COLUMN single boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN loads.single IS 'of items that a program sent without a load: the last few are kept, apart from the others';
CREATE INDEX loads_single_idx ON loads (source_id, no) WHERE single;

-- People in charge of a source are told when it asks them something, has failed for a day, or is gone.
ALTER TABLE sources ADD COLUMN failing_since timestamptz;
ALTER TABLE sources ADD COLUMN alerted_at bigint NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN alert text NOT NULL DEFAULT '' CONSTRAINT sources_alert CHECK (alert IN ('', 'asks', 'fails', 'gone'));
COMMENT ON COLUMN sources.failing_since IS 'since when problem is set, as far as it was looked for; NULL: it is not';
COMMENT ON COLUMN sources.alert IS 'what the people in charge are told: asks (a load is held), fails (for a day), gone (410); empty: nothing';
COMMENT ON COLUMN sources.alerted_at IS 'since when they are told that, in microseconds';
-- Sources whose alert may have to change; with loads_held_idx these are all.
CREATE INDEX sources_alert_idx ON sources (id) WHERE problem <> '' OR failing_since IS NOT NULL OR alert <> '';
CREATE INDEX loads_held_idx ON loads (source_id) WHERE state = 'held';

ALTER TABLE accounts ADD COLUMN alerts_seen bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN accounts.alerts_seen IS 'up to which alerted_at of sources the person has seen alerts, in microseconds';
COMMENT ON COLUMN accounts.notices_off IS 'kinds of notifications that the account does not want: kind k is bit k - 1; 7 is alerts of sources';
