-- Folds name people who wrote the comments that are folded away. All are made again: without
-- them every river is cold.
TRUNCATE folds;
