DROP TABLE fetch_hosts;
DROP TABLE load_batches;
DROP TABLE load_problems;
DROP TABLE load_gone;
DROP TABLE load_seen;
DROP TABLE source_items;
DROP TABLE loads;
DROP TABLE sources;
