package jobs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Jobs are counted by kind, those that are done not at all.
func TestStandByKind(t *testing.T) {
	pool := prepare(t)
	const insert = `
		INSERT INTO queue.river_job (kind, queue, state, max_attempts, args, metadata, attempted_at, finalized_at)
		SELECT kind, 'now', state::queue.river_job_state, 25, '{}', metadata::jsonb, now(), CASE WHEN state IN ('completed', 'discarded') THEN now() END
		FROM (VALUES ('a', 'available', '{}'), ('a', 'scheduled', '{"snoozes": 99}'), ('a', 'running', '{}'), ('a', 'completed', '{}'),
			('b', 'discarded', '{}'), ('c', 'completed', '{}')) j (kind, state, metadata)`
	if _, err := pool.Exec(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	got, err := StandByKind(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	want := []KindStanding{{Kind: "a", Waiting: 2, Running: 1, Failed: 1}, {Kind: "b", Failed: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs by kind (-want +got):\n%s", diff)
	}
}
