package blobs

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// probed is a store whose probes are counted, answered by answer.
type probed struct {
	Store
	n      atomic.Int64
	answer func(context.Context) error
}

func (p *probed) Probe(ctx context.Context) error {
	p.n.Add(1)
	return p.answer(ctx)
}

func TestAStoreIsProbedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("full")
		var now error
		p := &probed{answer: func(context.Context) error { <-time.After(time.Millisecond); return now }}
		h := NewHealth(p)
		for step, tt := range []struct {
			after  time.Duration
			is     error
			want   error
			probes int64
		}{
			{0, nil, nil, 1},
			{probeEvery / 2, full, nil, 1},
			{probeEvery, full, full, 2},
			{0, nil, full, 2},
			{probeEvery, nil, nil, 3},
		} {
			<-time.After(tt.after)
			now = tt.is
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					if err := h.Check(t.Context()); !errors.Is(err, tt.want) {
						t.Errorf("step %d: got %v, want %v", step, err, tt.want)
					}
				})
			}
			all.Wait()
			if n := p.n.Load(); n != tt.probes {
				t.Errorf("step %d: %d probes, want %d", step, n, tt.probes)
			}
		}
	})
}

// A disk that hangs holds one probe, and nobody who asks for longer than the bound.
func TestASilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		p := &probed{answer: func(context.Context) error { <-hangs; return nil }}
		h := NewHealth(p)
		for range 3 {
			began := time.Now()
			if err := h.Check(t.Context()); !errors.Is(err, ErrSilent) || time.Since(began) != probeTimeout {
				t.Errorf("got %v after %v, want ErrSilent after %v", err, time.Since(began), probeTimeout)
			}
		}
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Check(hasty); !errors.Is(err, ErrSilent) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("within a second: got %v, want ErrSilent", err)
		}
		if n := p.n.Load(); n != 1 {
			t.Errorf("%d probes, want 1", n)
		}
		close(hangs)
		synctest.Wait()
		if err := h.Check(t.Context()); err != nil {
			t.Errorf("when it answers again: %v", err)
		}
	})
}

func TestProbe(t *testing.T) {
	each(t, func(t *testing.T, s site) {
		before := len(s.paths())
		must(t, s.Probe(t.Context()))
		if after := s.paths(); len(after) != before {
			t.Errorf("a probe left %q", after)
		}
	})
}

func TestAProbeOfADirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "blobs")
	store, err := Location{}.Open(t.Context(), root)
	must(t, err)
	tmp := filepath.Join(root, temporary)
	for name, breaks := range map[string]func() (mend func() error){
		"vanished": func() func() error {
			must(t, os.Rename(root, root+".away"))
			return func() error { return os.Rename(root+".away", root) }
		},
		"another one in its place": func() func() error {
			must(t, os.Rename(root, root+".away"))
			must(t, os.Mkdir(root, 0o700))
			return func() error { return errors.Join(os.Remove(root), os.Rename(root+".away", root)) }
		},
		"a file in its place": func() func() error {
			must(t, os.Remove(tmp))
			must(t, os.WriteFile(tmp, nil, 0o600))
			return func() error { return errors.Join(os.Remove(tmp), os.Mkdir(tmp, 0o700)) }
		},
		"read-only": func() func() error {
			if os.Geteuid() == 0 { // root may write all the same, but not here
				must(t, os.Remove(tmp))
				must(t, os.Symlink("/dev/null", tmp))
				return func() error { return errors.Join(os.Remove(tmp), os.Mkdir(tmp, 0o700)) }
			}
			must(t, os.Chmod(tmp, 0o500))
			return func() error { return os.Chmod(tmp, 0o700) }
		},
	} {
		mend := breaks()
		if err := store.Probe(t.Context()); err == nil {
			t.Errorf("%s: a probe finds nothing", name)
		}
		must(t, mend())
		must(t, store.Probe(t.Context()))
	}
}

// A store that is only looked at is not made.
func TestAt(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "blobs")
	store, err := Location{}.At(root)
	must(t, err)
	if err := store.Probe(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: got %v, want that it does not exist", err)
	}
	if _, err := os.Stat(root); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made (%v)", err)
	}
	var refuses atomic.Bool
	host, _, _ := serve(t, between(func(_ request, w http.ResponseWriter, serve func()) {
		if refuses.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		serve()
	}))
	location, err := ParseLocation("s3://key:secret@"+host+"/site?insecure=1", env(nil))
	must(t, err)
	store, err = location.At("")
	must(t, err)
	must(t, store.Probe(t.Context()))
	refuses.Store(true)
	if err := store.Probe(t.Context()); err == nil {
		t.Error("a bucket that refuses to be written: a probe finds nothing")
	}
}
