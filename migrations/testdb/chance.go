package testdb

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Chance returns the seed of a test's random choices, which it logs, and how many times the
// usual share the test is to do. The seed is new for each run, so that runs together cover
// what one leaves out; RIVERRUN_SEED repeats a run, and RIVERRUN_SOAK, which make soak
// sets, asks for longer ones.
func Chance(t testing.TB) (seed uint64, times int) {
	t.Helper()
	seed = number(t, "RIVERRUN_SEED", rand.Uint64())
	t.Logf("RIVERRUN_SEED=%d", seed)
	return seed, int(number(t, "RIVERRUN_SOAK", 1))
}

func number(t testing.TB, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: %v", name, text, err)
	}
	return n
}
