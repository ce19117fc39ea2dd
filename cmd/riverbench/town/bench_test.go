package town

import (
	"fmt"
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
)

// BenchmarkLoad loads towns into empty stores.
func BenchmarkLoad(b *testing.B) {
	for _, scale := range []float64{0.02, 0.1} {
		b.Run(fmt.Sprint(scale), func(b *testing.B) {
			if testing.Short() {
				scale /= 10
			}
			for b.Loop() {
				store := timelines.Open(testdb.New(b).Primary, nil, options())
				if err := New(1, scale, evening).Load(b.Context(), store, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
