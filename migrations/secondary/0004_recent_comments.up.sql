-- Folds carry the times of the latest comments from now on. Those without are made again.
DELETE FROM folds;
