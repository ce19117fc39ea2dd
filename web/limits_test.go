package web

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestLimiter(t *testing.T) {
	l := newLimiter(3, time.Hour)
	for i := range 3 {
		if err := l.allow("a"); err != nil {
			t.Fatalf("try %d: %v", i+1, err)
		}
	}
	if err := l.allow("a"); !errors.Is(err, errLimited) {
		t.Errorf("fourth try: %v, want %v", err, errLimited)
	}
	if err := l.allow("b"); err != nil {
		t.Errorf("another key: %v", err)
	}
	for i := range maxLimited + 100 {
		if err := l.allow(strconv.Itoa(i)); err != nil {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	if n := l.keys.Len(); n > maxLimited {
		t.Errorf("%d keys remembered, want at most %d", n, maxLimited)
	}
	free := newLimiter(-1, time.Hour)
	for range 1000 {
		if err := free.allow("a"); err != nil {
			t.Fatalf("without a limit: %v", err)
		}
	}
}

func TestLimiterForgets(t *testing.T) {
	l := newLimiter(2, time.Hour)
	for range 5 {
		if err := l.allow("a"); err != nil {
			t.Fatal(err)
		}
		l.forget("a")
	}
	l.forget("a") // more than there was
	for i, want := range []error{nil, nil, errLimited} {
		if err := l.allow("a"); !errors.Is(err, want) {
			t.Errorf("try %d after nothing counted: %v, want %v", i+1, err, want)
		}
	}
}

func TestTally(t *testing.T) {
	counts, now := newTally(10*time.Minute), time.Now()
	for i, tt := range []struct {
		key   string
		n     int
		after time.Duration
		want  int
	}{
		{"a", 0, 0, 0},
		{"a", 1, 0, 1},
		{"a", 1, 9 * time.Minute, 2},
		{"b", 0, 9 * time.Minute, 0},
		{"a", 0, 10 * time.Minute, 2},
		{"a", 0, 11 * time.Minute, 0},
		{"a", 1, 11 * time.Minute, 1},
		{"a", 1, 20 * time.Minute, 2},
	} {
		if got := counts.add(tt.key, tt.n, now.Add(tt.after)); got != tt.want {
			t.Errorf("step %d: %d, want %d", i, got, tt.want)
		}
	}
	for i := range maxLimited + 100 {
		counts.add(strconv.Itoa(i), 1, now)
	}
	if n := counts.keys.Len(); n > maxLimited {
		t.Errorf("%d keys remembered, want at most %d", n, maxLimited)
	}
}

// TestLimiterRemembersLittle: a key is what somebody sent, and must not hold
// what it came in.
func TestLimiterRemembersLittle(t *testing.T) {
	l := newLimiter(1, time.Hour)
	form := strings.Repeat("x", maxForm)
	for _, key := range []string{form[:3], form} {
		if err := l.allow(key); err != nil {
			t.Fatalf("key of %d bytes: %v", len(key), err)
		}
		if err := l.allow(key); !errors.Is(err, errLimited) {
			t.Errorf("key of %d bytes again: %v, want %v", len(key), err, errLimited)
		}
	}
	counts := newTally(time.Hour)
	counts.add(form, 1, time.Now())
	for _, key := range append(l.keys.Keys(), counts.keys.Keys()...) {
		if len(key) > maxLimitedKey {
			t.Errorf("a key of %d bytes is remembered, want at most %d", len(key), maxLimitedKey)
		}
		if unsafe.StringData(key) == unsafe.StringData(form) {
			t.Errorf("the key of %d bytes keeps the form it stands in", len(key))
		}
	}
}

// A limit says when there is room for what was asked.
func TestLimiterSaysWhen(t *testing.T) {
	l := newLimiter(60, time.Hour)
	for range 60 {
		if err := l.allow("a"); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range map[int]time.Duration{1: time.Minute, 30: 30 * time.Minute} {
		var slow *limitedError
		if err := l.take("a", n); !errors.As(err, &slow) || slow.after > want || slow.after < want-10*time.Second {
			t.Errorf("%d more: %v, want to wait %v", n, err, want)
		}
	}
}
