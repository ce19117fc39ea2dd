-- The secondary store: rivers. It is transient: it may be lost at any moment, in whole or
-- in part, and that costs only time (R7). Hence all its tables are UNLOGGED, and there
-- are no foreign keys: each reader says itself what belongs together.

CREATE UNLOGGED TABLE clock (
    epoch      bigint  NOT NULL,
    n          bigint  NOT NULL,
    primary_id text    NOT NULL,
    id         boolean NOT NULL DEFAULT true CONSTRAINT clock_pkey PRIMARY KEY CONSTRAINT clock_one CHECK (id)
);
COMMENT ON COLUMN clock.epoch IS 'random; a river of another epoch is cold. It is new when this row or any table is lost';
COMMENT ON COLUMN clock.n IS 'the access clock: the highest number of a change of access that has been acknowledged';
COMMENT ON COLUMN clock.primary_id IS 'system identifier, timeline and database of the primary store that the rivers were built from';

CREATE UNLOGGED TABLE rivers (
    id         bigint      NOT NULL CONSTRAINT rivers_pkey PRIMARY KEY,
    user_id    bigint      NOT NULL,
    their_id   bigint      NOT NULL,
    epoch      bigint      NOT NULL,
    floor      bigint      NOT NULL DEFAULT 9223372036854775807,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    retired_at timestamptz,
    finished   boolean     NOT NULL DEFAULT false,
    state      text        NOT NULL CONSTRAINT rivers_state CHECK (state IN ('building', 'live', 'retired')),
    kind       text        NOT NULL,
    term       text        NOT NULL DEFAULT '',
    ord        text        NOT NULL DEFAULT 'fresh' CONSTRAINT rivers_ord CHECK (ord IN ('fresh', 'created')),
    knows      pg_snapshot NOT NULL,
    seen       pg_snapshot NOT NULL DEFAULT pg_current_snapshot()
);
COMMENT ON COLUMN rivers.id IS 'random, 63 bits: the sequence of an UNLOGGED table restarts after a crash, and river 1 would become another person''s';
COMMENT ON COLUMN rivers.floor IS 'at and above this place the river is complete; readers look no deeper';
COMMENT ON COLUMN rivers.updated_at IS 'while building: the builder''s sign of life';
COMMENT ON COLUMN rivers.knows IS 'a snapshot of the primary store: the river was built from one that sees at least as much, and is replaced for the changes that this one does not see';
COMMENT ON COLUMN rivers.seen IS 'of a search: it lacks nothing of folds whose writers this snapshot sees';
CREATE UNIQUE INDEX rivers_live_key ON rivers (user_id, kind, their_id, term, ord) WHERE state = 'live';
CREATE UNIQUE INDEX rivers_building_key ON rivers (user_id, kind, their_id, term, ord) WHERE state = 'building';
-- Retired rivers are removed some time later.
CREATE INDEX rivers_retired_idx ON rivers (retired_at) WHERE state = 'retired';
-- One account's rivers, whatever their state: each change looks up those of its actor,
-- and a replacement also the retired ones that a page is still open on. The partial
-- indexes by name do not serve a join.
CREATE INDEX rivers_user_idx ON rivers (user_id);
-- All viewers' rivers of an account's pages: a feed that comes or goes changes them.
CREATE INDEX rivers_their_idx ON rivers (their_id);
-- All viewers' rivers of a term: the first use of a tag concerns those that were opened
-- before there was such a timeline.
CREATE INDEX rivers_term_idx ON rivers (kind, term) WHERE term <> '';

CREATE UNLOGGED TABLE rivers_timelines (
    river_id    bigint NOT NULL,
    timeline_id bigint NOT NULL,
    CONSTRAINT rivers_timelines_pkey PRIMARY KEY (river_id, timeline_id)
);
CREATE INDEX rivers_timelines_timeline_idx ON rivers_timelines (timeline_id, river_id);

CREATE UNLOGGED TABLE entries (
    river_id         bigint      NOT NULL,
    post_id          bigint      NOT NULL,
    version          bigint      NOT NULL,
    fresh_at         bigint      NOT NULL,
    updated_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    buried_at        timestamptz GENERATED ALWAYS AS (CASE WHEN deleted THEN updated_at END) STORED,
    deleted          boolean     NOT NULL DEFAULT false,
    per_river_folded jsonb       NOT NULL DEFAULT '{}',
    CONSTRAINT entries_pkey PRIMARY KEY (river_id, post_id)
) WITH (fillfactor = 80);
COMMENT ON COLUMN entries.version IS 'the post''s version that this entry was computed at; a write applies only if its own is greater';
COMMENT ON COLUMN entries.fresh_at IS 'the entry''s place in the river''s order';
COMMENT ON COLUMN entries.deleted IS 'a tombstone: the river does not hold the post at this version';
COMMENT ON COLUMN entries.buried_at IS 'of a tombstone: when it was written. A column that each write of an entry changes, as updated_at, may be in no index: then a like writes none of them (HOT)';
CREATE INDEX entries_place_idx ON entries (river_id, fresh_at DESC, post_id DESC);
CREATE INDEX entries_post_idx ON entries (post_id);
-- Tombstones are removed some time later.
CREATE INDEX entries_tombstone_idx ON entries (buried_at) WHERE deleted;

CREATE UNLOGGED TABLE folds (
    post_id            bigint      NOT NULL CONSTRAINT folds_pkey PRIMARY KEY,
    version            bigint      NOT NULL,
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    written            xid8        NOT NULL DEFAULT pg_current_xact_id(),
    faves              integer     NOT NULL DEFAULT 0,
    deleted            boolean     NOT NULL DEFAULT false,
    decisive           bigint[]    NOT NULL,
    text_folded        jsonb       NOT NULL,
    likes_folded       jsonb       NOT NULL,
    comments_folded    jsonb       NOT NULL,
    attachments_folded jsonb       NOT NULL
) WITH (fillfactor = 70);
COMMENT ON COLUMN folds.written IS 'the transaction that wrote this version: a search asks what was written since it last looked. Times cannot tell, because a time that is taken is not yet committed';
COMMENT ON COLUMN folds.faves IS 'how many people saved the post';
CREATE INDEX folds_written_idx ON folds (written);

CREATE UNLOGGED TABLE visits (
    river_id   bigint      NOT NULL CONSTRAINT visits_pkey PRIMARY KEY,
    visited_at timestamptz NOT NULL
) WITH (fillfactor = 70);

CREATE UNLOGGED TABLE leases (
    river_id bigint      NOT NULL,
    until    timestamptz NOT NULL,
    node     text        NOT NULL,
    CONSTRAINT leases_pkey PRIMARY KEY (river_id, node)
) WITH (fillfactor = 70);
COMMENT ON TABLE leases IS 'rivers that are open in a browser, and the node that serves it; a dead node''s leases run out';
-- A node that stops gives all its leases back.
CREATE INDEX leases_node_idx ON leases (node);

-- Losing one table alone is losing all: the rivers left would have holes.
CREATE FUNCTION forget_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM clock;
    RETURN NULL;
END $$;
CREATE TRIGGER rivers_truncated AFTER TRUNCATE ON rivers EXECUTE FUNCTION forget_epoch();
CREATE TRIGGER rivers_timelines_truncated AFTER TRUNCATE ON rivers_timelines EXECUTE FUNCTION forget_epoch();
CREATE TRIGGER entries_truncated AFTER TRUNCATE ON entries EXECUTE FUNCTION forget_epoch();
CREATE TRIGGER folds_truncated AFTER TRUNCATE ON folds EXECUTE FUNCTION forget_epoch();
CREATE TRIGGER visits_truncated AFTER TRUNCATE ON visits EXECUTE FUNCTION forget_epoch();
CREATE TRIGGER leases_truncated AFTER TRUNCATE ON leases EXECUTE FUNCTION forget_epoch();
