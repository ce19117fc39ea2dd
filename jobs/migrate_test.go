package jobs

import (
	"sync"
	"testing"

	"riverrun/migrations/testdb"
)

func TestMigrateByManyNodes(t *testing.T) {
	pool := testdb.New(t).Primary
	var nodes sync.WaitGroup
	for range 4 {
		nodes.Go(func() {
			if err := Migrate(t.Context(), pool); err != nil {
				t.Errorf("Migrate: %v", err)
			}
		})
	}
	nodes.Wait()
	before := count(t, pool, `SELECT count(*) FROM queue.river_migration`)
	if before == 0 {
		t.Error("no migration is noted in queue.river_migration")
	}
	if err := Migrate(t.Context(), pool); err != nil {
		t.Errorf("Migrate once more: %v", err)
	}
	if after := count(t, pool, `SELECT count(*) FROM queue.river_migration`); after != before {
		t.Errorf("migrating again: got %d migrations, want %d", after, before)
	}
	if n := count(t, pool, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'river\_%'`); n != 0 {
		t.Errorf("tables of the queue among riverrun's own: %d", n)
	}
	if n := count(t, pool, `SELECT count(*) FROM pg_indexes WHERE schemaname = 'queue' AND indexname = 'river_job_args_index'`); n != 0 {
		t.Error("the queue's index by arguments, which nothing asks, is there")
	}
}
