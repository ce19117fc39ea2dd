package sources_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	jobs "riverrun/jobs/sources"
	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
)

// In the environment of a process that works a source until it is killed: the database, the folders
// of blobs and of canonical files, and the source.
const killed = "RIVERRUN_KILLED_"

// runUntilKilled works the source that the environment names.
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
		Act: func(ctx context.Context, change func(context.Context) (timelines.Change, error)) (timelines.Change, error) {
			return change(ctx)
		},
		Yield: func(ctx context.Context) error { return ctx.Err() },
	}
	return run.Run(ctx, source)
}

// F11, F12, F25: a process that is killed, in the first pass, the second or the sweep, leaves nothing
// that the next does not bring to the same end.
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

// killRuns has three loads worked by processes that are killed, until one comes to the end, and returns
// how many were killed.
func killRuns(t *testing.T, rng *rand.Rand) (kills int) {
	t.Helper()
	var list []string
	for range 3 {
		from := rng.IntN(400)
		list = append(list, csv(from, from+500+rng.IntN(3000), fmt.Sprint("text ", rng.IntN(3))))
	}
	calm := newWorld(t, sources.Sync)
	for _, f := range list {
		calm.upload(f)
	}
	began := time.Now()
	calm.must(calm.run.Run(t.Context(), calm.source))
	took := time.Since(began)
	want := calm.holds()

	w := newWorld(t, sources.Sync)
	for _, f := range list {
		w.upload(f)
	}
	env := append(os.Environ(), killed+"DATABASE="+w.pool.Config().ConnString(), killed+"BLOBS="+w.blobs, killed+"DIR="+w.run.Dir,
		killed+"SOURCE="+strconv.FormatInt(w.source, 10))
	for done := false; !done; {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcesses$")
		cmd.Env = env
		w.must(cmd.Start())
		// A tenth to a third of what all takes, once the process has begun.
		end := time.AfterFunc(100*time.Millisecond+time.Duration(rng.Int64N(int64(took)/4)), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		end.Stop()
		var exit *exec.ExitError
		switch {
		case err == nil:
			done = true
		case !errors.As(err, &exit):
			t.Fatal(err)
		case exit.ExitCode() == 3: // the server has not noticed yet that the last one is gone
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
		t.Errorf("canonical files stay behind: %q", left)
	}
	if d := cmp.Diff(want, w.holds()); d != "" {
		t.Errorf("after %d kills (-undisturbed +killed):\n%s", kills, d)
	}
	return kills
}
