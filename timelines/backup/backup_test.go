package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"riverrun/timelines/blobs"
)

var manifest = Manifest{Site: 42, Migrations: []string{"schema 0123"}, PostgreSQL: 15, Made: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}

// write returns a backup of a dump and a store, to which some files are added first.
func write(t *testing.T, store blobs.Store, dump []byte, files ...string) []byte {
	t.Helper()
	for _, content := range files {
		if _, _, err := store.Put(t.Context(), strings.NewReader(content), 1000); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, manifest)
	if err != nil {
		t.Fatal(err)
	}
	for rest := dump; len(rest) > 0; {
		n, err := w.Write(rest[:min(len(rest), 1_000_003)])
		if err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Files(t.Context(), store, func() {}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func newStore(t *testing.T) blobs.Store {
	t.Helper()
	store, err := blobs.Location{}.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// read is what a backup holds.
type read struct {
	Manifest Manifest
	Dump     string
	Files    []string
}

func readAll(ctx context.Context, r io.Reader) (read, error) {
	var got read
	b, err := NewReader(r)
	if err != nil {
		return got, err
	}
	got.Manifest = b.Manifest
	dump, err := io.ReadAll(readFunc(b.Read))
	if err != nil {
		return got, err
	}
	got.Dump = string(dump)
	return got, b.Files(ctx, func(sum blobs.Sum, _ int64, content io.Reader) error {
		text, err := io.ReadAll(content)
		got.Files = append(got.Files, sum.String()+" "+string(text))
		return err
	})
}

func TestABackupIsReadAsItWasWritten(t *testing.T) {
	for _, size := range []int{0, 1, partSize - 1, partSize, partSize + 1, 2*partSize + 5} {
		dump := bytes.Repeat([]byte("dump."), size/5+1)[:size]
		data := write(t, newStore(t), dump, "one", "two", "")
		got, err := readAll(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatalf("a dump of %d bytes: %v", size, err)
		}
		if got.Dump != string(dump) {
			t.Errorf("a dump of %d bytes came back with %d, or others", size, len(got.Dump))
		}
		m := manifest
		m.Format = Format
		if diff := cmp.Diff(m, got.Manifest); diff != "" {
			t.Errorf("manifest (-want +got):\n%s", diff)
		}
		if len(got.Files) != 3 {
			t.Errorf("files: got %q, want three", got.Files)
		}
		_, totals, err := Verify(t.Context(), bytes.NewReader(data))
		want := Totals{Parts: (size + partSize - 1) / partSize, Dump: int64(size), Files: 3, Bytes: 6}
		if err != nil || totals != want {
			t.Errorf("Verify: got %+v (%v), want %+v", totals, err, want)
		}
	}
}

// Files may move from a directory into a bucket, and back.
func TestFilesOfABucket(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("site"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	defer server.Close()
	at, err := blobs.ParseLocation("s3://key:secret@"+strings.TrimPrefix(server.URL, "http://")+"/site?insecure=1&region=here", nil)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := at.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	first := write(t, newStore(t), []byte("dump"), "one", "two", "")
	b, err := NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	err = b.Files(t.Context(), func(sum blobs.Sum, size int64, content io.Reader) error {
		got, _, err := bucket.Put(t.Context(), content, size)
		if got != sum {
			t.Errorf("put %s, want %s", got, sum)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := readAll(t.Context(), bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(t.Context(), bytes.NewReader(write(t, bucket, []byte("dump"))))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from the bucket (-want +got):\n%s", diff)
	}
}

// A file that a disk has spoilt keeps no other from being saved and brought back.
func TestASpoiltFileIsCounted(t *testing.T) {
	root := t.TempDir()
	store, err := blobs.Location{}.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := store.Put(t.Context(), strings.NewReader("spoilt"), 100)
	if err != nil {
		t.Fatal(err)
	}
	name := sum.String()
	if err := os.WriteFile(filepath.Join(root, name[:2], name[2:4], name), []byte("SPOILT"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, totals, err := Verify(t.Context(), bytes.NewReader(write(t, store, []byte("dump"), "whole")))
	if err != nil || totals.Files != 2 || totals.Spoilt != 1 {
		t.Errorf("got %+v (%v), want two files, one spoilt", totals, err)
	}
}

func TestACutOffFileIsNoticed(t *testing.T) {
	data := write(t, newStore(t), []byte("dump"), "one", "two")
	for size := range bytes.TrimRight(data, "\x00") { // what ends a tar says nothing
		if _, err := readAll(t.Context(), bytes.NewReader(data[:size])); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut off after %d of %d bytes: got %v, want ErrDamaged", size, len(data), err)
		}
	}
}

// Each changed byte is an error, or one that says nothing, as the mode of an entry.
func TestAChangedFileIsNoticed(t *testing.T) {
	data := write(t, newStore(t), []byte("dump"), "one", "two")
	want, err := readAll(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	noticed := 0
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 0x15
		got, err := readAll(t.Context(), bytes.NewReader(changed))
		switch {
		case err == nil && !cmp.Equal(want, got):
			t.Errorf("byte %d changed unnoticed: got %+v", i, got)
		case errors.Is(err, ErrDamaged), errors.Is(err, ErrForeign), errors.Is(err, ErrNewer):
			noticed++
		case err != nil:
			t.Errorf("byte %d changed: got %v, want ErrDamaged", i, err)
		}
	}
	if noticed < 2000 {
		t.Errorf("%d of %d changes were noticed", noticed, len(data))
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	if _, err := NewReader(strings.NewReader(strings.Repeat("a letter to a friend\n", 100))); !errors.Is(err, ErrForeign) {
		t.Errorf("a text: got %v, want ErrForeign", err)
	}
	data := write(t, newStore(t), []byte("dump"))
	newer := bytes.Replace(data, []byte(`"format": 1`), []byte(`"format": 9`), 1)
	if _, err := NewReader(bytes.NewReader(newer)); !errors.Is(err, ErrNewer) {
		t.Errorf("another format: got %v, want ErrNewer", err)
	}
}
