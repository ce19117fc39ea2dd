-- Rivers that were behind stay so until they are built again: an older binary
-- has no Tier 2 to bring them up.
DROP TABLE behind;
