-- Home feeds and lists hold what their owners follow no more (primary 0022): all
-- rivers are built anew when somebody looks.
TRUNCATE rivers, rivers_timelines, entries, folds;
