package jobs

import (
	"testing"
	"time"

	"riverrun/migrations/testdb"
)

func TestLagIsTheAgeOfTheOldestNote(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t).Primary
	lag := func() time.Duration {
		t.Helper()
		d, err := Lag(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if got := lag(); got != 0 {
		t.Errorf("lag with nothing behind: %v, want 0", got)
	}
	for _, age := range []time.Duration{time.Minute, time.Second} {
		_, err := pool.Exec(t.Context(), `INSERT INTO behind (post_id, changed_at, timelines) VALUES (1, $1, '{}')`,
			time.Now().Add(-age).UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := lag(); got < time.Minute || got > 2*time.Minute {
		t.Errorf("lag: %v, want about a minute", got)
	}
}
