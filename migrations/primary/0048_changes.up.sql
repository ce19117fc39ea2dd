-- Every change of a post, for other programs: an outbox, and the log that they read.

CREATE TABLE outbox (
    id          bigint      GENERATED ALWAYS AS IDENTITY,
    post_id     bigint      NOT NULL DEFAULT 0,
    version     bigint      NOT NULL DEFAULT 0,
    account_id  bigint      NOT NULL DEFAULT 0,
    timeline_id bigint      NOT NULL DEFAULT 0,
    made_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    shard       smallint    NOT NULL,
    kind        text        NOT NULL CONSTRAINT outbox_kind CHECK (kind IN ('post', 'viewer', 'level', 'unseen')),
    places      bigint[],
    CONSTRAINT outbox_pkey PRIMARY KEY (shard, id)
);
COMMENT ON TABLE outbox IS 'changes that the relay has not moved to the log yet; written by triggers in the transaction of the change';
COMMENT ON COLUMN outbox.id IS 'of one post in the order of the commits: it is drawn while the post is locked';
COMMENT ON COLUMN outbox.kind IS 'post (post_id changed), or what may be read changed: by account_id (viewer), of timeline_id (level), of somebody (unseen)';
COMMENT ON COLUMN outbox.places IS 'the base timelines that the post stood in before the change';

CREATE TABLE changes_head (
    seq     bigint  NOT NULL,
    trimmed bigint  NOT NULL,
    id      boolean NOT NULL DEFAULT true CONSTRAINT changes_head_pkey PRIMARY KEY CONSTRAINT changes_head_one CHECK (id)
);
COMMENT ON COLUMN changes_head.seq IS 'the last number of the log';
COMMENT ON COLUMN changes_head.trimmed IS 'the last number that is not kept any more';
INSERT INTO changes_head (seq, trimmed) VALUES (0, 0);

-- A ring of days. A day's partition is emptied when it is no longer kept, and used again. So no table is made while the
-- site runs.
CREATE TABLE changes (
    seq         bigint      NOT NULL,
    id          bigint      NOT NULL,
    post_id     bigint      NOT NULL,
    version     bigint      NOT NULL,
    account_id  bigint      NOT NULL,
    timeline_id bigint      NOT NULL,
    made_at     timestamptz NOT NULL,
    shard       smallint    NOT NULL,
    slot        smallint    NOT NULL,
    kind        text        NOT NULL,
    places      bigint[]
) PARTITION BY LIST (slot);
COMMENT ON COLUMN changes.seq IS 'the day since 1970 in the high bits, from bit 32 on; no number becomes visible after a greater one';
COMMENT ON COLUMN changes.slot IS 'the day modulo 32';
-- Each day has a key of its own: pg_restore --clean cannot drop one that is inherited.
DO $$
BEGIN
    FOR i IN 0..31 LOOP
        EXECUTE format('CREATE TABLE changes_%s PARTITION OF changes (CONSTRAINT changes_%s_pkey PRIMARY KEY (seq)) FOR VALUES IN (%s)', i, i, i);
    END LOOP;
END $$;

CREATE FUNCTION post_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (shard, kind, post_id, version, places)
    VALUES (NEW.author_id % 16, 'post', NEW.id, NEW.version, CASE TG_OP WHEN 'UPDATE' THEN OLD.decisive END);
    RETURN NULL;
END $$;
CREATE TRIGGER posts_made AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION post_to_outbox();
CREATE TRIGGER posts_changed AFTER UPDATE OF version ON posts FOR EACH ROW EXECUTE FUNCTION post_to_outbox();

CREATE FUNCTION access_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (shard, kind, account_id, timeline_id)
    VALUES ((NEW.account_id + NEW.timeline_id) % 16, NEW.kind, NEW.account_id, NEW.timeline_id);
    RETURN NULL;
END $$;
CREATE TRIGGER access_changed AFTER INSERT ON access_log FOR EACH ROW
    WHEN (NEW.kind IN ('viewer', 'level', 'unseen')) EXECUTE FUNCTION access_to_outbox();
