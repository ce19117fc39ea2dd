-- The address of a source can be changed, and chosen among the feeds that its page names.
ALTER TABLE sources
    ADD COLUMN unread_until bigint NOT NULL DEFAULT 0,
    ADD COLUMN feeds jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN sources.unread_until IS 'the number of the last load of a former address; 0: there was none';
COMMENT ON COLUMN sources.feeds IS 'the feeds that the page at its address named, if there were several: url, title and type of each';
