-- Folds of many lines are cut, which those of before are not.
TRUNCATE rivers, rivers_timelines, entries, folds;
