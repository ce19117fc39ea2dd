DROP INDEX sources_host_idx;
ALTER TABLE sources DROP COLUMN host;
