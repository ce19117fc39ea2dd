-- How far the log of changes was sent to a stream of messages.
CREATE TABLE streams (
    seq  bigint NOT NULL,
    name text   NOT NULL CONSTRAINT streams_pkey PRIMARY KEY
);
COMMENT ON COLUMN streams.seq IS 'the last number of the log that the stream has acknowledged';
