DROP INDEX files_waiting_idx;
