package main

import (
	"context"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
)

// A command does not begin a second town beside a server that another user runs.
func TestOneTown(t *testing.T) {
	mine, theirs := t.TempDir(), t.TempDir()
	c := &config{data: mine, otherData: []string{filepath.Join(mine, "none"), theirs}}
	own := func(dir, owner string) {
		t.Helper()
		file, err := os.Create(filepath.Join(dir, "riverrun.lock"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.oneTown(); err != nil {
		t.Errorf("nothing runs anywhere: got %v", err)
	}
	if err := os.WriteFile(filepath.Join(theirs, "riverrun.lock"), []byte("process 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.oneTown(); err != nil {
		t.Errorf("a server ran there once: got %v", err)
	}
	own(theirs, "process 7 (riverrun serve)\n")
	err := c.oneTown()
	if err == nil {
		t.Fatal("another user's server runs: got no error")
	}
	for _, want := range []string{"process 7 (riverrun serve)", theirs, mine, "RIVERRUN_DATA"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	own(mine, "process 8 (riverrun serve)\n")
	if err := c.oneTown(); err != nil {
		t.Errorf("this user's server runs too: got %v", err)
	}
}

// All statements of both stores are planned once, unless the operator's address asks for something else.
func TestConnectionsPlanOnce(t *testing.T) {
	db := testdb.New(t)
	for asked, want := range map[string]string{"": "force_generic_plan", "auto": "auto"} {
		with := func(address string) string {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if asked != "" {
				q := u.Query()
				q.Set("plan_cache_mode", asked)
				u.RawQuery = q.Encode()
			}
			return u.String()
		}
		c, _, err := parse(map[string]string{"DATABASE_URL": with(db.PrimaryURL), "RIVERS_DATABASE_URL": with(db.SecondaryURL)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := openStores(t.Context(), c, c.logger(io.Discard), guest)
		if err != nil {
			t.Fatal(err)
		}
		for store, pool := range map[string]*pgxpool.Pool{"primary": s.primary, "secondary": s.secondary} {
			var got string
			if err := pool.QueryRow(t.Context(), `SHOW plan_cache_mode`).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("asked for %q, the %s store has plan_cache_mode %s, want %s", asked, store, got, want)
			}
		}
		if err := s.close(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// Which directory is meant is not guessed where the operator says it.
func TestOtherData(t *testing.T) {
	vars := map[string]string{"HOME": "/home/alice", "RIVERRUN_DATA": "/srv/river"}
	c, _, err := parse(vars)
	if err != nil || len(c.otherData) != 0 {
		t.Errorf("with RIVERRUN_DATA: got others %v, %v, want none", c.otherData, err)
	}
}
