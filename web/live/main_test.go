package live_test

import (
	"os"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines/mutants"
)

func TestMain(m *testing.M) {
	mutants.Start(mutants.Mutant(os.Getenv("RIVERRUN_MUTANT")))
	testdb.Main(m)
}
