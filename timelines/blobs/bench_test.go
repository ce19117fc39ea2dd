package blobs

import (
	"bytes"
	"testing"
)

// BenchmarkPut puts a picture of 1 MB that is there already, and so syncs a file and three
// folders each time.
func BenchmarkPut(b *testing.B) {
	store, err := Location{}.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := store.Put(b.Context(), bytes.NewReader(content), 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
