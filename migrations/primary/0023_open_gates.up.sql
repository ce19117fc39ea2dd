-- The few readable posts of a timeline that is nearly all private are found by the
-- feeds that are open, and not by all whose posts stand there (timelines/scanfew.go).
CREATE INDEX timelines_open_idx ON timelines (id) WHERE access < 2 AND kind IN ('feed', 'subfeed', 'group');
