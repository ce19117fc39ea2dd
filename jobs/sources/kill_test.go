package sources_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/jobs/fetch"
	jobs "riverrun/jobs/sources"
	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
)

// killed begins the names of variables in the environment of a process that works a source until it
// is killed: the database, the folders of blobs and of canonical files, and the source.
const killed = "RIVERRUN_KILLED_"

// runUntilKilled fetches and works the source that the environment names.
func runUntilKilled(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, os.Getenv(killed+"DATABASE"))
	if err != nil {
		return err
	}
	defer pool.Close()
	files, err := blobs.Location{}.Open(ctx, os.Getenv(killed+"BLOBS"))
	if err != nil {
		return err
	}
	source, err := strconv.ParseInt(os.Getenv(killed+"SOURCE"), 10, 64)
	if err != nil {
		return err
	}
	run := jobs.Runner{
		Sources: sources.Open(timelines.Open(pool, nil, timelines.DefaultOptions())), Blobs: files, Dir: os.Getenv(killed + "DIR"), Log: slog.New(slog.DiscardHandler),
		Carry: func(_ context.Context, c timelines.Change, err error) (timelines.Change, error) { return c, err },
		Yield: func(ctx context.Context) error { return ctx.Err() },
	}
	return fetchAndRun(ctx, run, source)
}

// fetchAndRun fetches a source from this machine, and works the file.
func fetchAndRun(ctx context.Context, run jobs.Runner, source int64) error {
	client, err := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	if err != nil {
		return err
	}
	defer client.Close()
	fetcher := jobs.Fetcher{Sources: run.Sources, Blobs: run.Blobs, Client: client, Dir: run.Dir, Log: run.Log}
	got, err := fetcher.Fetch(ctx, source)
	switch {
	case err != nil:
		return err
	case got.Postponed:
		return sources.ErrBusy // a killed process was asking the host
	case got.Problem != "":
		return fmt.Errorf("not fetched: %s", got.Problem)
	}
	return run.Run(ctx, source)
}

// F11, F12, F25: a process is killed in the fetch, the first pass, the second pass or the sweep. The
// next process brings all that is left to the same end.
func TestKilledProcesses(t *testing.T) {
	if os.Getenv(killed+"DATABASE") != "" {
		switch err := runUntilKilled(t.Context()); {
		case errors.Is(err, sources.ErrBusy):
			os.Exit(3)
		case err != nil:
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	seed, times := testdb.Chance(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	kills, least := 0, 1
	if times > 1 {
		least = 50 * times
	}
	for kills < least {
		kills += killRuns(t, rng)
	}
	t.Logf("%d processes were killed", kills)
}

// killRuns has three lists fetched and loaded by processes that are killed, until a process comes to
// the end. It returns how many were killed.
func killRuns(t *testing.T, rng *rand.Rand) (kills int) {
	t.Helper()
	var list []string
	for range 3 {
		from := rng.IntN(400)
		list = append(list, csv(from, from+500+rng.IntN(3000), fmt.Sprint("text ", rng.IntN(3))))
	}
	var file atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		io.WriteString(w, file.Load().(string))
	}))
	defer server.Close()
	calm, w := newLinked(t, server.URL), newLinked(t, server.URL)
	env := append(os.Environ(), killed+"DATABASE="+w.pool.Config().ConnString(), killed+"BLOBS="+w.blobs, killed+"DIR="+w.run.Dir,
		killed+"SOURCE="+strconv.FormatInt(w.source, 10))
	for i, f := range list {
		file.Store(f)
		calm.hostsRest()
		began := time.Now()
		calm.must(fetchAndRun(t.Context(), calm.run, calm.source))
		took := time.Since(began)
		for done := false; !done; {
			w.hostsRest()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcesses$")
			cmd.Env = env
			w.must(cmd.Start())
			// The process is killed at any point of its work, later and later, so that one comes to the
			// end.
			end := time.AfterFunc(80*time.Millisecond+time.Duration(rng.Int64N(int64(took)*int64(4+kills)/8)), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			end.Stop()
			var exit *exec.ExitError
			switch {
			case err == nil:
				done = true
			case !errors.As(err, &exit):
				t.Fatal(err)
			case exit.ExitCode() == 3: // the server has not noticed yet that the last process is gone
			case exit.ExitCode() == -1:
				kills++
			default:
				t.Fatalf("the process failed: %v", err)
			}
			if kills > 500 {
				t.Fatal("it never ends")
			}
		}
		left, err := readDir(w.run.Dir)
		w.must(err)
		if len(left) > 0 {
			t.Errorf("files stay behind: %q", left)
		}
		if d := cmp.Diff(calm.holds(), w.holds()); d != "" {
			t.Fatalf("list %d, after %d kills (-undisturbed +killed):\n%s", i, kills, d)
		}
	}
	return kills
}

// newLinked returns a world whose source is a full list at an address.
func newLinked(t *testing.T, url string) *world {
	t.Helper()
	w := newWorld(t, sources.Sync)
	_, err := w.pool.Exec(t.Context(), `UPDATE sources SET way = 'link', url = $1, next_at = now()`, url)
	w.must(err)
	return w
}

// hostsRest ends the gaps of all hosts, as time would.
func (w *world) hostsRest() {
	w.Helper()
	_, err := w.pool.Exec(w.Context(), `UPDATE fetch_hosts SET next_at = now() - interval '1 s'`)
	w.must(err)
}
