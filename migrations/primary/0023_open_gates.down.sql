DROP INDEX timelines_open_idx;
