-- The secondary store: rivers. Transient; it may be lost at any moment, in
-- whole or in part, and costs only time (R7). Hence UNLOGGED throughout, and
-- no foreign keys: each reader says itself what belongs together.

CREATE UNLOGGED TABLE clock (
    epoch      bigint  NOT NULL,
    n          bigint  NOT NULL,
    primary_id text    NOT NULL,
    id         boolean NOT NULL DEFAULT true CONSTRAINT clock_pkey PRIMARY KEY CONSTRAINT clock_one CHECK (id)
);
COMMENT ON COLUMN clock.epoch IS 'random; a river of another epoch is cold. New when this row or any table is lost';
COMMENT ON COLUMN clock.n IS 'the access clock: the highest number of a change of access that has been acknowledged';
COMMENT ON COLUMN clock.primary_id IS 'system identifier, timeline and database of the primary store the rivers were built from';

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
    ord        text        NOT NULL DEFAULT 'fresh' CONSTRAINT rivers_ord CHECK (ord IN ('fresh', 'created'))
);
COMMENT ON COLUMN rivers.id IS 'random, 63 bits: the sequence of an UNLOGGED table restarts after a crash, and river 1 would become another person''s';
COMMENT ON COLUMN rivers.floor IS 'at and above this place the river is complete; readers look no deeper';
COMMENT ON COLUMN rivers.updated_at IS 'while building: the builder''s sign of life';
CREATE UNIQUE INDEX rivers_live_key ON rivers (user_id, kind, their_id, term, ord) WHERE state = 'live';
CREATE UNIQUE INDEX rivers_building_key ON rivers (user_id, kind, their_id, term, ord) WHERE state = 'building';
CREATE INDEX rivers_retired_idx ON rivers (retired_at) WHERE state = 'retired';

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
    deleted          boolean     NOT NULL DEFAULT false,
    per_river_folded jsonb       NOT NULL DEFAULT '{}',
    CONSTRAINT entries_pkey PRIMARY KEY (river_id, post_id)
) WITH (fillfactor = 80);
COMMENT ON COLUMN entries.version IS 'the post''s version this entry was computed at; a write applies only if its own is greater';
COMMENT ON COLUMN entries.fresh_at IS 'the entry''s place in the river''s order';
COMMENT ON COLUMN entries.deleted IS 'a tombstone: the river does not hold the post at this version';
CREATE INDEX entries_place_idx ON entries (river_id, fresh_at DESC, post_id DESC);
CREATE INDEX entries_post_idx ON entries (post_id);
CREATE INDEX entries_tombstone_idx ON entries (updated_at) WHERE deleted;

CREATE UNLOGGED TABLE folds (
    post_id            bigint      NOT NULL CONSTRAINT folds_pkey PRIMARY KEY,
    version            bigint      NOT NULL,
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted            boolean     NOT NULL DEFAULT false,
    decisive           bigint[]    NOT NULL,
    text_folded        jsonb       NOT NULL,
    likes_folded       jsonb       NOT NULL,
    comments_folded    jsonb       NOT NULL,
    attachments_folded jsonb       NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX folds_updated_idx ON folds (updated_at);

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
