package pictures

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sync/errgroup"
)

// measured names, in the environment of a process that makes pictures and nothing else, what it
// makes.
const measured = "RIVERRUN_MEASURED_PICTURES"

// TestMemoryOfAProcess: of the heaviest pictures each takes the memory that the one before gave
// back. With -v it prints the numbers of doc.go and of the operator's manual.
func TestMemoryOfAProcess(t *testing.T) {
	for _, m := range []struct {
		what           string
		side, at, each int // each: one after the other, as many at a time
		limits         Limits
		most           int // megabytes
	}{
		{"pictures of 37 megapixels in 16 bits, one at a time", 6100, 1, 3, Limits{}, 450},
		{"pictures of cards, one at a time", 2700, 1, 12, Limits{Pixels: 12_000_000, Bytes: 60_000_000}, 250},
	} {
		switch os.Getenv(measured) {
		case m.what:
			var group errgroup.Group
			for range m.at {
				group.Go(func() error {
					for range m.each {
						if _, err := Make(t.Context(), bytes.NewReader(deepPNG(m.side)), m.limits); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			var is runtime.MemStats
			runtime.ReadMemStats(&is)
			fmt.Printf("megabytes: %d %d\n", is.Sys/1e6, (is.Sys-is.HeapReleased)/1e6)
		case "":
			t.Run(m.what, func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMemoryOfAProcess$")
				cmd.Env = append(os.Environ(), "GOGC=100", measured+"="+m.what) // as a server runs
				out, err := cmd.CombinedOutput()
				var took, kept int
				if _, scanErr := fmt.Sscanf(string(out), "megabytes: %d %d", &took, &kept); err != nil || scanErr != nil {
					t.Fatalf("%v, %v: %s", err, scanErr, out)
				}
				t.Logf("at most %d MB, and %d MB afterwards", took, kept)
				if took > m.most || kept > 100 {
					t.Errorf("it takes %d MB, and %d MB afterwards, want at most %d and 100", took, kept, m.most)
				}
			})
		}
	}
}

// deepPNG is a PNG in 16 bits and four samples, which the decoder makes eight bytes a pixel.
func deepPNG(side int) []byte {
	row := make([]byte, 1+8*side)
	for i := range row[1:] {
		row[1+i] = byte(i % 251)
	}
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	must(err)
	for range side {
		_, err := z.Write(row)
		must(err)
	}
	must(z.Close())
	return pngFile(ihdr(side, side, 16, 6, 0), chunk("IDAT", packed.Bytes()), chunk("IEND", nil))
}
