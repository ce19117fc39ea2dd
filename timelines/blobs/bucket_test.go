package blobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// request is what a test wants to know of a request to the storage.
type request struct{ method, key string }

func requestOf(r *http.Request) request {
	if prefix := r.URL.Query().Get("prefix"); prefix != "" {
		return request{"LIST", strings.TrimPrefix(prefix, "some/blobs/")}
	}
	return request{r.Method, strings.TrimPrefix(r.URL.Path, "/site/some/blobs/")}
}

// between returns what serve takes: handle answers each request, by itself or by calling
// serve.
func between(handle func(r request, w http.ResponseWriter, serve func())) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handle(requestOf(r), w, func() { next.ServeHTTP(w, r) })
		})
	}
}

func announcementsOf(sum Sum) string { return "tmp/" + sum.String() + "/" }

// A sweep has looked at the time of a blob and is about to delete it when the blob is put.
// Put may look for announcements before the deletion is done or after it.
func TestAPutBetweenTheLookAndTheDeletion(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"Put looks before it": false, "Put looks after it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sum := sumOf("blob")
			var s site
			var putting atomic.Bool
			var lists atomic.Int64
			var once sync.Once
			proceed, deleted, put := make(chan bool), make(chan bool), make(chan error, 1)
			handle := func(r request, _ http.ResponseWriter, serve func()) {
				switch r {
				case request{http.MethodDelete, sum.path()}:
					putting.Store(true)
					go func() {
						_, _, err := s.Put(t.Context(), strings.NewReader("blob"), 100)
						put <- err
					}()
					<-proceed
					serve()
				case request{"LIST", announcementsOf(sum)}:
					if putting.Load() && late {
						once.Do(func() { close(proceed) })
						<-deleted
					}
					serve()
					// The second time, Put waits.
					if putting.Load() && !late && lists.Add(1) == 2 {
						once.Do(func() { close(proceed) })
					}
				default:
					serve()
					// A Put that does not wait is done now.
					if putting.Load() && !late && r == (request{http.MethodHead, sum.path()}) {
						once.Do(func() { close(proceed) })
					}
				}
			}
			s, _, _ = inBucket(t, between(handle))
			s.put(t, "blob")
			s.age(time.Hour)
			got, err := s.DeleteOlder(t.Context(), sum, s.now().Add(-time.Minute))
			if !got || err != nil {
				t.Errorf("DeleteOlder = %v, %v; want true", got, err)
			}
			close(deleted)
			must(t, <-put)
			s.wants(t, "blob")
			s.wantsPaths(t, []string{"blob"})
		})
	}
}

// It hides a crash of the process that announced it.
func TestAnAnnouncementThatACrashLeftIsWaitedForAndRemoved(t *testing.T) {
	t.Parallel()
	s, b, _ := inBucket(t, nil)
	b.patience = time.Millisecond
	s.write(announcementsOf(sumOf("blob"))+"crashed", "")
	s.write(announcementsOf(sumOf("another"))+"crashed", "")
	s.put(t, "blob")
	s.wants(t, "blob")
	s.wantsPaths(t, []string{"blob"}, announcementsOf(sumOf("another"))+"crashed")
}

func TestAPutThatWaitsForADeletionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var lists atomic.Int64
	s, _, _ := inBucket(t, between(func(r request, _ http.ResponseWriter, serve func()) {
		serve()
		if r.method == "LIST" && lists.Add(1) == 2 {
			cancel()
		}
	}))
	s.write(announcementsOf(sumOf("blob"))+"crashed", "")
	_, _, err := s.Put(ctx, strings.NewReader("blob"), 100)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// Nobody knows whether a deletion without an answer is still to come. So it is not sent
// again, and its announcement stays.
func TestADeletionWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	var deletions atomic.Int64
	s, _, _ := inBucket(t, between(func(r request, w http.ResponseWriter, serve func()) {
		if r == (request{http.MethodDelete, sumOf("blob").path()}) {
			deletions.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		serve()
	}))
	sum := s.put(t, "blob")
	s.age(time.Hour)
	if deleted, err := s.DeleteOlder(t.Context(), sum, s.now()); deleted || err == nil {
		t.Errorf("DeleteOlder = %v, %v; want an error", deleted, err)
	}
	if got := deletions.Load(); got != 1 {
		t.Errorf("the deletion was sent %d times, want once", got)
	}
	if got := s.paths(); len(got) != 2 || !strings.HasPrefix(got[1], announcementsOf(sum)) {
		t.Errorf("the storage has %q, want the blob and the announcement", got)
	}
}

// The storage compares the sum that is signed with what it receives.
func TestAWriteIsRepeatedWithTheSumSigned(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("content", 10_000)
	var writes atomic.Int64
	s, _, _ := inBucket(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requestOf(r) == (request{http.MethodPut, sumOf(content).path()}) {
				if got, want := r.Header.Get("X-Amz-Content-Sha256"), sumOf(content).String(); got != want {
					t.Errorf("signed: got %q, want %q", got, want)
				}
				if writes.Add(1) == 1 {
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						t.Errorf("read the request: %v", err)
					}
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	})
	s.put(t, content)
	s.wants(t, content)
	if got := writes.Load(); got != 2 {
		t.Errorf("the blob was written %d times, want 2", got)
	}
}

type countingWriter struct {
	http.ResponseWriter
	written *atomic.Int64
}

func (w countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.written.Add(int64(n))
	return n, err
}

func TestOpenDoesNotReadAhead(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	s, _, backend := inBucket(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(countingWriter{w, &sent}, r)
		})
	})
	content := bytes.Repeat([]byte("0123456789abcdef"), 3<<19)
	sum := Sum{1}
	store(t, backend, sum, content)
	blob, err := s.Open(t.Context(), sum, int64(len(content)))
	must(t, err)
	if got := sent.Load(); got > 100_000 {
		t.Errorf("Open received %d bytes", got)
	}
	got := make([]byte, 16)
	if _, err := io.ReadFull(blob, got); err != nil || string(got) != "0123456789abcdef" {
		t.Errorf("read %q, %v", got, err)
	}
	must(t, blob.Close())
	// The rest is what the buffers of both ends take.
	if got := sent.Load(); got > int64(len(content))/2 {
		t.Errorf("16 bytes read, %d of %d bytes sent", got, len(content))
	}
}

func store(t *testing.T, backend *s3mem.Backend, sum Sum, content []byte) {
	t.Helper()
	_, err := backend.PutObject("site", "some/blobs/"+sum.path(), map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}, bytes.NewReader(content), int64(len(content)), &gofakes3.PutConditions{})
	must(t, err)
}

func TestWalkAsksPageByPage(t *testing.T) {
	t.Parallel()
	var lists atomic.Int64
	s, _, backend := inBucket(t, between(func(r request, _ http.ResponseWriter, serve func()) {
		if r.method == "LIST" {
			lists.Add(1)
		}
		serve()
	}))
	const many = 2500
	for i := range many {
		store(t, backend, Sum{byte(i), byte(i >> 8)}, nil)
	}
	first := int64(0)
	visited := 0
	must(t, s.Walk(t.Context(), func(Sum, int64, time.Time) error {
		if visited++; visited == 1 {
			first = lists.Load()
		}
		return nil
	}))
	if all := lists.Load(); visited != many || first != 1 || all != 3 {
		t.Errorf("Walk visits %d of %d, the first after %d and the last after %d requests, want 1 and 3", visited, many, first, all)
	}
	// The client ends a list silently when its context ends between two pages.
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Walk(ctx, func(Sum, int64, time.Time) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in the first page: got %v, want %v", err, context.Canceled)
	}
}
