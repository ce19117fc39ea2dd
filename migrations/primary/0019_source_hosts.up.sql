-- What requests of a source are counted under, as Of of package hosts has it: feeds of one host are fetched one
-- after the other.
ALTER TABLE sources ADD COLUMN host text NOT NULL
    GENERATED ALWAYS AS (coalesce(regexp_replace(lower(substring(url FROM '^[^:/]+://([^/?#]*)')), '(:80|:443)$', ''), '')) STORED;
COMMENT ON COLUMN sources.host IS 'what requests of its address are counted under (package hosts)';
CREATE INDEX sources_host_idx ON sources (host, next_at) WHERE status = 'active' AND way = 'link' AND next_at IS NOT NULL;
