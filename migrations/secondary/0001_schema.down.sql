DROP TABLE leases, visits, folds, entries, rivers_timelines, rivers, clock;
DROP FUNCTION forget_epoch();
