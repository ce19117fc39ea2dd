-- Rivers that are there may be as deep as they like: all of them count as extended.
ALTER TABLE rivers ADD COLUMN extended boolean NOT NULL DEFAULT true;
ALTER TABLE rivers ALTER COLUMN extended SET DEFAULT false;
COMMENT ON COLUMN rivers.extended IS 'somebody has read below the first floor, or is about to: from now on each new post has its entry, however old it is';
