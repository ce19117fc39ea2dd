package site

import (
	"strings"
	"testing"
	"time"

	"riverrun/jobs"
	"riverrun/migrations/testdb"
)

// A site that never comes to rest does not hold riverbench up for ever.
func TestQuietNamesWhatIsLeft(t *testing.T) {
	pool := testdb.New(t).Primary
	if err := jobs.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	s := &Site{served: pool}
	if err := s.quiet(t.Context(), time.Minute); err != nil {
		t.Errorf("nothing is left: %v", err)
	}
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO queue.river_job (kind, args, max_attempts, state, finalized_at)
		VALUES ('distribute', '{}', 9, 'available', NULL), ('distribute', '{}', 9, 'running', NULL), ('picture', '{}', 9, 'retryable', NULL),
			('follow', '{}', 9, 'completed', now())`); err != nil {
		t.Fatal(err)
	}
	err := s.quiet(t.Context(), time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "rivers: 0; jobs: 2 of distribute, 1 of picture") {
		t.Errorf("got %v, want one that names two jobs of distribute and one of picture", err)
	}
}
