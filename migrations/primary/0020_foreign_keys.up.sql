-- Whoever deletes a row looks for those that refer to it: without an index in all of
-- their table, a subfeed's deletion in all timelines under the locks it holds.
CREATE INDEX timelines_gate_idx ON timelines (gate_id) WHERE gate_id IS NOT NULL;
CREATE INDEX text_marks_timeline_idx ON text_marks (timeline_id);
