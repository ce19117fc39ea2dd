package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is what was used since the start: processor time of riverrun, of PostgreSQL and of this
// process, and the statements that riverrun has sent.
type Usage struct {
	Server, PostgreSQL, Own time.Duration
	Statements              int64
}

// Less returns what was used since an earlier moment.
func (u Usage) Less(earlier Usage) Usage {
	return Usage{
		Server: u.Server - earlier.Server, PostgreSQL: u.PostgreSQL - earlier.PostgreSQL, Own: u.Own - earlier.Own,
		Statements: u.Statements - earlier.Statements,
	}
}

// Usage reads the counters.
func (s *Site) Usage(ctx context.Context) (Usage, error) {
	var u Usage
	postmaster, err := s.postmaster()
	if err != nil {
		return u, err
	}
	var errs [4]error
	u.Server, errs[0] = processor(s.server.cmd.Process.Pid, false)
	u.PostgreSQL, errs[1] = processor(postmaster, true)
	u.Own, errs[2] = own()
	errs[3] = s.admin.QueryRow(ctx, `
		SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements
		WHERE userid <> (SELECT oid FROM pg_roles WHERE rolname = $1)`, role).Scan(&u.Statements)
	return u, errors.Join(errs[:]...)
}

// Memory returns how many bytes of riverrun are in memory.
func (s *Site) Memory() (int64, error) { return memory(s.server.cmd.Process.Pid) }

func (s *Site) postmaster() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.config.Dir, "postgresql", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// quietWithin is how long a site may take to do what follows from one measurement, quietFirst what
// follows from a whole town.
const (
	quietWithin = 2 * time.Minute
	quietFirst  = time.Hour
)

// undone are the jobs that are still to be done.
const undone = ` FROM queue.river_job WHERE state IN ('available', 'running', 'retryable')`

// Quiet waits until nothing is left to do: all changes are in all rivers, and no job waits. After two
// minutes it returns an error that says what is left.
func (s *Site) Quiet(ctx context.Context) error { return s.quiet(ctx, quietWithin) }

func (s *Site) quiet(ctx context.Context, within time.Duration) error {
	// The work that follows from one change is soon done, and is timed by this.
	wait := time.Millisecond
	tick := time.NewTimer(wait)
	defer tick.Stop()
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		var left bool
		err := s.served.QueryRow(ctx, `SELECT EXISTS (SELECT FROM behind) OR EXISTS (SELECT`+undone+`)`).Scan(&left)
		if err != nil || !left {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return s.left(ctx, within)
		case <-tick.C:
			wait = min(2*wait, 20*time.Millisecond)
			tick.Reset(wait)
		}
	}
}

// Holding returns how many rivers hold a post as new as that.
func (s *Site) Holding(ctx context.Context, code string, fold int64) (n int, err error) {
	var id int64
	if err := s.served.QueryRow(ctx, `SELECT id FROM posts WHERE code = $1`, code).Scan(&id); err != nil {
		return 0, err
	}
	err = s.rivers.QueryRow(ctx, `SELECT count(*) FROM entries WHERE post_id = $1 AND version >= $2 AND NOT deleted`, id, fold).Scan(&n)
	return n, err
}

// AllHold waits until as many rivers hold a post as new as that. After two minutes it returns an error.
func (s *Site) AllHold(ctx context.Context, code string, fold int64, rivers int) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(quietWithin)
	defer late.Stop()
	for {
		n, err := s.Holding(ctx, code, fold)
		if err != nil || n >= rivers {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("after %v %d of %d rivers hold post %s", quietWithin, n, rivers, code)
		case <-tick.C:
		}
	}
}

// left returns an error that says what is left to do.
func (s *Site) left(ctx context.Context, after time.Duration) error {
	var changes int
	var kinds string
	err := s.served.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM behind), coalesce(string_agg(count || ' of ' || kind, ', ' ORDER BY kind), 'none')
		FROM (SELECT kind, count(*)`+undone+` GROUP BY kind) AS kinds`).Scan(&changes, &kinds)
	if err != nil {
		return err
	}
	return fmt.Errorf("after %v the site still has work to do; changes that are not in all rivers: %d; jobs: %s", after, changes, kinds)
}

// Metric returns the sum of the site's metrics that begin with that name and labels.
func (s *Site) Metric(ctx context.Context, prefix string) (sum float64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return 0, errors.Join(fmt.Errorf("GET /metrics: status %d", response.StatusCode), err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		fields := strings.Fields(line)
		n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			return 0, fmt.Errorf("metric %q: %w", line, err)
		}
		sum += n
	}
	return sum, nil
}

// HomesBuilt returns how many home pages were built.
func (s *Site) HomesBuilt(ctx context.Context) (float64, error) {
	return s.Metric(ctx, `riverrun_build_seconds_count{kind="home"}`)
}

// Settle waits until nothing is left to do, and has PostgreSQL write what it keeps in memory.
func (s *Site) Settle(ctx context.Context) error {
	if err := s.Quiet(ctx); err != nil {
		return err
	}
	_, err := s.admin.Exec(ctx, "CHECKPOINT")
	return err
}
