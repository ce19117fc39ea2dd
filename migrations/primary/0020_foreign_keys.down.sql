DROP INDEX text_marks_timeline_idx;
DROP INDEX timelines_gate_idx;
