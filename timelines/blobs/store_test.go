package blobs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a store to test, and the ways to it behind its back.
type site struct {
	Store
	// now is the store's time.
	now func() time.Time
	// age makes all that is stored older.
	age func(time.Duration)
	// write makes a file or an object at a path below the root.
	write func(path, content string)
	// paths returns the paths of all files or objects below the root.
	paths func() []string
	// spools is the folder in which Put may have temporary files, or empty.
	spools string
}

// each runs a test with both implementations.
func each(t *testing.T, test func(t *testing.T, s site)) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		s, _ := inDirectory(t)
		test(t, s)
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		s, _, _ := inBucket(t, nil)
		test(t, s)
	})
}

func inDirectory(t *testing.T) (site, *directory) {
	root := filepath.Join(t.TempDir(), "some", "blobs")
	store, err := Location{}.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	files := func(visit func(name string, info os.FileInfo)) {
		must(t, filepath.Walk(root, func(name string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				visit(name, info)
			}
			return err
		}))
	}
	return site{
		Store: store,
		now:   time.Now,
		age: func(by time.Duration) {
			files(func(name string, info os.FileInfo) {
				must(t, os.Chtimes(name, time.Time{}, info.ModTime().Add(-by)))
			})
		},
		write: func(path, content string) {
			name := filepath.Join(root, path)
			must(t, os.MkdirAll(filepath.Dir(name), 0o700))
			must(t, os.WriteFile(name, []byte(content), 0o600))
		},
		paths: func() (paths []string) {
			files(func(name string, _ os.FileInfo) {
				below, err := filepath.Rel(root, name)
				must(t, err)
				paths = append(paths, below)
			})
			return paths
		},
	}, store.(*directory)
}

// clock is the time of a storage.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time                   { return time.Now().UTC().Add(time.Duration(c.ahead.Load())) }
func (c *clock) Since(at time.Time) time.Duration { return c.Now().Sub(at) }
func (c *clock) advance(by time.Duration)         { c.ahead.Add(int64(by)) }
func env(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := pairs[name]; return v, ok }
}

// serve starts an object storage with the bucket "site". between, if any, sees each request
// before the storage does.
func serve(t *testing.T, between func(next http.Handler) http.Handler) (host string, backend *s3mem.Backend, its *clock) {
	its = new(clock)
	backend = s3mem.New(s3mem.WithTimeSource(its))
	must(t, backend.CreateBucket("site"))
	handler := gofakes3.New(backend, gofakes3.WithTimeSource(its), gofakes3.WithTimeSkewLimit(0)).Server()
	if between != nil {
		handler = between(handler)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of clients that close early
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), backend, its
}

func inBucket(t *testing.T, between func(next http.Handler) http.Handler) (site, *bucket, *s3mem.Backend) {
	host, backend, its := serve(t, between)
	location, err := ParseLocation("s3://key:secret@"+host+"/site/some/blobs?insecure=1", env(nil))
	must(t, err)
	store, err := location.Open(t.Context(), "")
	must(t, err)
	b := store.(*bucket)
	b.spools = t.TempDir()
	return site{
		Store: store,
		now:   its.Now,
		age:   its.advance,
		write: func(path, content string) {
			must(t, b.write(t.Context(), "some/blobs/"+path, strings.NewReader(content), int64(len(content)), sumOf(content)))
		},
		paths: func() (paths []string) {
			must(t, b.list(t.Context(), "", func(object minio.ObjectInfo) error {
				paths = append(paths, strings.TrimPrefix(object.Key, "some/blobs/"))
				return nil
			}))
			return paths
		},
		spools: b.spools,
	}, b, backend
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sumOf(content string) Sum { return sha256.Sum256([]byte(content)) }

func (s site) put(t *testing.T, content string) Sum {
	t.Helper()
	sum, size, err := s.Put(t.Context(), strings.NewReader(content), 1<<20)
	must(t, err)
	if sum != sumOf(content) || size != int64(len(content)) {
		t.Fatalf("Put(%.20q) = %v, %d; want %v, %d", content, sum, size, sumOf(content), len(content))
	}
	return sum
}

// wants fails the test if a blob cannot be read as content.
func (s site) wants(t *testing.T, content string) {
	t.Helper()
	blob, err := s.Open(t.Context(), sumOf(content), int64(len(content)))
	if err != nil {
		t.Fatalf("Open(%.20q): %v", content, err)
	}
	got, err := io.ReadAll(blob)
	if err := errors.Join(err, blob.Close()); err != nil || string(got) != content {
		t.Fatalf("read %.20q, %v; want %.20q", got, err, content)
	}
}

// wantsPaths fails the test if the store has other files or objects than those of the blobs
// and the further paths.
func (s site) wantsPaths(t *testing.T, contents []string, further ...string) {
	t.Helper()
	want := slices.Clone(further)
	for _, content := range contents {
		want = append(want, sumOf(content).path())
	}
	got := s.paths()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the store has %q, want %q", got, want)
	}
	if s.spools == "" {
		return
	}
	if left, err := os.ReadDir(s.spools); err != nil || len(left) > 0 {
		t.Errorf("Put left %v behind, %v", left, err)
	}
}

func (s site) walk(t *testing.T) map[Sum]int64 {
	t.Helper()
	found := map[Sum]int64{}
	must(t, s.Walk(t.Context(), func(sum Sum, size int64, modified time.Time) error {
		if _, twice := found[sum]; twice {
			t.Errorf("Walk visits %v twice", sum)
		}
		if age := s.now().Sub(modified); age < -time.Second || age > time.Minute {
			t.Errorf("Walk says %v is %v old", sum, age)
		}
		found[sum] = size
		return nil
	}))
	return found
}

func TestAPutBlobIsReadAndServed(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		large := strings.Repeat("0123456789abcdef", 2<<16)
		sum, size, err := s.Put(t.Context(), strings.NewReader(large), math.MaxInt64)
		if err != nil || sum != sumOf(large) || size != int64(len(large)) {
			t.Fatalf("Put = %v, %d, %v; want %v, %d", sum, size, err, sumOf(large), len(large))
		}
		s.wants(t, large)
		for _, content := range []string{"", "a", "picture"} {
			s.put(t, content)
			s.wants(t, content)
		}
		s.wantsPaths(t, []string{large, "", "a", "picture"})

		for ranged, want := range map[string]string{
			"":               large,
			"bytes=0-3":      "0123",
			"bytes=5-9":      "56789",
			"bytes=-4":       "cdef",
			"bytes=1048577-": large[1<<20+1:],
		} {
			blob, err := s.Open(t.Context(), sum, size)
			must(t, err)
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			if ranged != "" {
				request.Header.Set("Range", ranged)
			}
			answer := httptest.NewRecorder()
			http.ServeContent(answer, request, "a.bin", time.Time{}, blob)
			must(t, blob.Close())
			if got := answer.Body.String(); got != want {
				t.Errorf("range %q: got %d bytes, %.20q; want %d, %.20q", ranged, len(got), got, len(want), want)
			}
		}
	})
}

func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		for _, tt := range []struct {
			content string
			limit   int64
			want    error
		}{
			{"12345", 6, nil},
			{"12345", 5, nil},
			{"12345", 4, ErrTooLarge},
			{"12345", 0, ErrTooLarge},
			{"12345", -1, ErrTooLarge},
			{"", 0, nil},
			{strings.Repeat("x", 100_000), 99_999, ErrTooLarge},
		} {
			sum, size, err := s.Put(t.Context(), strings.NewReader(tt.content), tt.limit)
			if !errors.Is(err, tt.want) {
				t.Errorf("Put of %d bytes, limit %d: got %v, want %v", len(tt.content), tt.limit, err, tt.want)
			}
			if err != nil && (sum != Sum{} || size != 0) {
				t.Errorf("Put of %d bytes, limit %d: got %v, %d with an error", len(tt.content), tt.limit, sum, size)
			}
		}
		s.wantsPaths(t, []string{"12345", ""})
	})
}

// A client that goes away is an error of its reader, or the end of the context.
func TestACutPutLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		gone := errors.New("the client went away")
		_, _, err := s.Put(t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(gone)), 100)
		if !errors.Is(err, gone) {
			t.Errorf("the reader fails: got %v, want %v", err, gone)
		}
		// Right at the limit, where Put looks whether there is more.
		_, _, err = s.Put(t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(gone)), 4)
		if !errors.Is(err, gone) {
			t.Errorf("the reader fails at the limit: got %v, want %v", err, gone)
		}
		for _, at := range []int{0, 1, 2, 3} {
			ctx, cancel := context.WithCancel(t.Context())
			reads := 0
			_, _, err := s.Put(ctx, readFunc(func(p []byte) (int, error) {
				if reads == at {
					cancel()
				}
				if reads++; reads > 3 {
					return 0, io.EOF
				}
				return copy(p, "part"), nil
			}), 100)
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled in read %d: got %v, want %v", at, err, context.Canceled)
			}
			if reads != at+1 {
				t.Errorf("cancelled in read %d: %d reads", at, reads)
			}
		}
		s.wantsPaths(t, nil)
	})
}

// While a blob is being put, and if a crash ends that, nobody sees it.
func TestABlobIsAbsentUntilItIsWhole(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		half := strings.Repeat("half", 20_000)
		_, _, err := s.Put(t.Context(), io.MultiReader(strings.NewReader(half), readFunc(func([]byte) (int, error) {
			for _, content := range []string{half, half + half} {
				if _, err := s.Open(t.Context(), sumOf(content), int64(len(content))); !errors.Is(err, ErrNotFound) {
					t.Errorf("Open during Put: got %v, want %v", err, ErrNotFound)
				}
			}
			if found := s.walk(t); len(found) != 0 {
				t.Errorf("Walk during Put: got %v, want none", found)
			}
			return 0, io.EOF
		}), strings.NewReader(half)), 1<<20)
		must(t, err)
		s.wants(t, half+half)
	})
}

func TestAbsentBlobs(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		s.put(t, "another")
		if _, err := s.Open(t.Context(), sumOf("absent"), 6); !errors.Is(err, ErrNotFound) {
			t.Errorf("Open: got %v, want %v", err, ErrNotFound)
		}
		must(t, s.Delete(t.Context(), sumOf("absent")))
		deleted, err := s.DeleteOlder(t.Context(), sumOf("absent"), s.now().Add(time.Hour))
		if deleted || err != nil {
			t.Errorf("DeleteOlder: got %v, %v; want false", deleted, err)
		}
		s.wantsPaths(t, []string{"another"})
	})
}

func TestDelete(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		s.put(t, "goes")
		s.put(t, "stays")
		must(t, s.Delete(t.Context(), sumOf("goes")))
		if _, err := s.Open(t.Context(), sumOf("goes"), 4); !errors.Is(err, ErrNotFound) {
			t.Errorf("Open: got %v, want %v", err, ErrNotFound)
		}
		s.wantsPaths(t, []string{"stays"})
	})
}

func TestATruncatedBlobIsAnErrorUntilItIsPutAgain(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		sum := s.put(t, "picture")
		for _, damaged := range []string{"pict", "", "pictures"} {
			s.write(sum.path(), damaged)
			if _, err := s.Open(t.Context(), sum, 7); !errors.Is(err, ErrDamaged) {
				t.Errorf("Open of %q as picture: got %v, want %v", damaged, err, ErrDamaged)
			}
			if found := s.walk(t); found[sum] != int64(len(damaged)) {
				t.Errorf("Walk says %d bytes, want %d", found[sum], len(damaged))
			}
			s.put(t, "picture")
			s.wants(t, "picture")
		}
	})
}

func TestABlobThatIsPutAgainIsReadToItsEnd(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		content := strings.Repeat("content", 100_000)
		sum := s.put(t, content)
		blob, err := s.Open(t.Context(), sum, int64(len(content)))
		must(t, err)
		got := make([]byte, 10)
		if _, err := io.ReadFull(blob, got); err != nil {
			t.Fatal(err)
		}
		s.put(t, content)
		if _, err := blob.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		got, err = io.ReadAll(blob)
		if err := errors.Join(err, blob.Close()); err != nil || string(got) != content {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, len(content))
		}
	})
}

func TestDeleteOlderSparesWhatWasPutWithinTheGrace(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		const grace = time.Hour
		s.put(t, "old")
		s.put(t, "old, and put again")
		s.age(grace + 2*time.Second)
		s.put(t, "old, and put again")
		s.put(t, "new")
		for content, want := range map[string]bool{"old": true, "old, and put again": false, "new": false} {
			got, err := s.DeleteOlder(t.Context(), sumOf(content), s.now().Add(-grace))
			if err != nil || got != want {
				t.Errorf("DeleteOlder(%q) = %v, %v; want %v", content, got, err, want)
			}
		}
		s.wantsPaths(t, []string{"old, and put again", "new"})
	})
}

// S3 says it with the second, and without its fractions.
func TestABlobIsNotOlderThanATimeBeforeItsPut(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		s.age((1900*time.Millisecond - time.Duration(s.now().Nanosecond())) % time.Second)
		before := s.now()
		sum := s.put(t, "blob")
		if deleted, err := s.DeleteOlder(t.Context(), sum, before); deleted || err != nil {
			t.Errorf("DeleteOlder(%v) = %v, %v; want false", before, deleted, err)
		}
	})
}

// A blob is as new as the end of its upload, and not as its last byte.
func TestABlobIsAsNewAsTheEndOfItsUpload(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		slow := io.MultiReader(strings.NewReader("slow"), readFunc(func([]byte) (int, error) {
			s.age(time.Hour)
			return 0, io.EOF
		}))
		before := s.now()
		_, _, err := s.Put(t.Context(), slow, 100)
		must(t, err)
		if deleted, err := s.DeleteOlder(t.Context(), sumOf("slow"), before); deleted || err != nil {
			t.Errorf("DeleteOlder = %v, %v; want false", deleted, err)
		}
	})
}

// Whichever comes first, the blob is there when both have returned.
func TestASweepNeverDeletesWhatIsPutMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		const grace = time.Hour
		var contents []string
		for i := range 60 {
			contents = append(contents, fmt.Sprint("blob ", i))
			s.put(t, contents[i])
		}
		s.age(grace + 2*time.Second)
		before := s.now().Add(-grace)
		var all sync.WaitGroup
		for _, content := range contents {
			for range 2 {
				all.Go(func() {
					if _, err := s.DeleteOlder(t.Context(), sumOf(content), before); err != nil {
						t.Errorf("DeleteOlder: %v", err)
					}
				})
				all.Go(func() {
					if _, _, err := s.Put(t.Context(), strings.NewReader(content), 100); err != nil {
						t.Errorf("Put: %v", err)
					}
				})
			}
		}
		all.Wait()
		for _, content := range contents {
			s.wants(t, content)
		}
	})
}

func TestTheSameContentIsPutManyTimesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		content := strings.Repeat("same", 50_000)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 5 {
					if _, _, err := s.Put(t.Context(), strings.NewReader(content), 1<<20); err != nil {
						t.Errorf("Put: %v", err)
					}
				}
			})
		}
		all.Wait()
		s.wants(t, content)
		s.wantsPaths(t, []string{content})
	})
}

func TestWalk(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		want := map[Sum]int64{}
		for i := range 20 {
			content := strings.Repeat("x", i)
			want[s.put(t, content)] = int64(i)
		}
		name := sumOf("misplaced").String()
		for _, other := range []string{
			"tmp/put-1", "tmp/" + name + "/1", "tmp/" + name, name, "README", name[:2] + "/" + name[2:4] + "/" + strings.ToUpper(name),
			"00/00/" + name, name[:2] + "/" + name[2:4] + "/x", name[:2] + "/" + name[2:4] + "/" + name + ".jpg",
		} {
			if other != "tmp/"+name { // it is a folder
				s.write(other, "no blob")
			}
		}
		if diff := cmp.Diff(want, s.walk(t)); diff != "" {
			t.Errorf("Walk (-want +got):\n%s", diff)
		}

		enough := errors.New("enough")
		visited := 0
		err := s.Walk(t.Context(), func(Sum, int64, time.Time) error {
			visited++
			return enough
		})
		if !errors.Is(err, enough) || visited != 1 {
			t.Errorf("a visit fails: got %v after %d, want %v after 1", err, visited, enough)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = s.Walk(ctx, func(Sum, int64, time.Time) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v, want %v", err, context.Canceled)
		}

		// A sweep deletes as it walks.
		must(t, s.Walk(t.Context(), func(sum Sum, _ int64, _ time.Time) error { return s.Delete(t.Context(), sum) }))
		if found := s.walk(t); len(found) != 0 {
			t.Errorf("after a sweep, Walk finds %v", slices.Collect(maps.Keys(found)))
		}
	})
}

func TestLeftoversOlderThanADayAreDeleted(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		s.put(t, "blob")
		s.write("tmp/put-1", "half a bl")
		s.write("tmp/"+sumOf("gone").String()+"/1", "")
		s.age(24*time.Hour + 2*time.Second)
		s.write("tmp/put-2", "half a bl")
		must(t, s.DeleteLeftovers(t.Context(), s.now().Add(-24*time.Hour)))
		s.wantsPaths(t, []string{"blob"}, "tmp/put-2")
		s.wants(t, "blob")
	})
}

func TestOperationsWithACancelledContextFail(t *testing.T) {
	t.Parallel()
	s, _, _ := inBucket(t, nil)
	sum := s.put(t, "blob")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Open(ctx, sum, 4)
	_, err2 := s.DeleteOlder(ctx, sum, s.now())
	for what, err := range map[string]error{
		"Open": err, "DeleteOlder": err2, "Delete": s.Delete(ctx, sum), "DeleteLeftovers": s.DeleteLeftovers(ctx, s.now()),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", what, err, context.Canceled)
		}
	}
	s.wants(t, "blob")
}

func TestParseSum(t *testing.T) {
	t.Parallel()
	sum := sumOf("x")
	if got, err := ParseSum(sum.String()); err != nil || got != sum {
		t.Errorf("ParseSum(%q) = %v, %v", sum.String(), got, err)
	}
	for _, bad := range []string{"", "ab", sum.String()[1:], sum.String() + "0", strings.ToUpper(sum.String()), "g" + sum.String()[1:], "../" + sum.String()[3:]} {
		if got, err := ParseSum(bad); !errors.Is(err, ErrBadSum) || got != (Sum{}) {
			t.Errorf("ParseSum(%q) = %v, %v; want %v", bad, got, err, ErrBadSum)
		}
	}
}

func FuzzParseSum(f *testing.F) {
	f.Add(sumOf("x").String())
	f.Add(strings.Repeat("A", 64))
	f.Fuzz(func(t *testing.T, text string) {
		sum, err := ParseSum(text)
		if err == nil && sum.String() != text {
			t.Errorf("ParseSum(%q) = %v", text, sum)
		}
		if p, ok := sumOfPath(text); ok && p.path() != text {
			t.Errorf("sumOfPath(%q) = %v", text, p)
		}
	})
}
