-- A number for each person, which grows when their notifications change. The statement of a
-- page returns it, so that a node knows whether what it remembers of them still holds.
CREATE UNLOGGED TABLE notice_clocks (
    account_id bigint NOT NULL CONSTRAINT notice_clocks_pkey PRIMARY KEY,
    n          bigint NOT NULL
) WITH (fillfactor = 70);
COMMENT ON TABLE notice_clocks IS 'raised before a change is acknowledged that takes a notification back, and soon after any other change of them; without a row it is 0';
CREATE TRIGGER notice_clocks_truncated AFTER TRUNCATE ON notice_clocks EXECUTE FUNCTION forget_epoch();
