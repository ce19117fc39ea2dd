package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/localpg"
	"riverrun/migrations/testdb"
)

// An import of a large archive runs in a process of its own, beside a PostgreSQL of its own.
// The test measures how much it takes, and how much it leaves to do. A share of the archive is
// imported into memory; RIVERRUN_SOAK imports all of it onto a disk. The time of the processor
// depends on the machine, and on its other work, so it is only printed:
//
//	RIVERRUN_SOAK=1 go test ./cmd/riverrun -run TestLargeArchive -count 1 -timeout 1h -v
func TestLargeArchive(t *testing.T) {
	scale, soak := 0.02, os.Getenv("RIVERRUN_SOAK") != ""
	if soak {
		scale = 1
	}
	m := newLargeImport(t, scale, soak)
	imported := m.run("import", (*exec.Cmd).Wait, "import", "friendfeed", m.file)
	if most := int64(128_000_000); imported.memory > most {
		t.Errorf("the import took %d bytes of memory, want at most %d", imported.memory, most)
	}
	m.readsLittle()
	jobs, notes := m.left()
	t.Logf("jobs left: %d", jobs)
	posts := m.count(`SELECT count(*) FROM posts`)
	if most := posts/100 + 10; jobs > most || notes != 0 {
		t.Errorf("jobs and notes left: got %d and %d, want at most %d jobs", jobs, notes, most)
	}
	m.run("until the queues are empty", func(cmd *exec.Cmd) error {
		m.untilIdle()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return cmd.Wait()
	}, "work")
	rivers, err := pgx.Connect(t.Context(), m.cluster.URL("riverrun_rivers"))
	if err != nil {
		t.Fatal(err)
	}
	defer rivers.Close(context.Background())
	var folds int
	if err := rivers.QueryRow(t.Context(), `SELECT count(*) FROM folds`).Scan(&folds); err != nil {
		t.Fatal(err)
	}
	// Posts were changed whose language was guessed when all were known.
	if want := m.count(`SELECT count(*) FROM posts WHERE version > 1`); folds > want {
		t.Errorf("%d folds were made of posts nobody looks at, want at most %d", folds, want)
	}
}

// readsLittle holds the import to read of each table no more than a few rows for each that it
// wrote. While it fills an empty site the planner knows nothing of the tables, and may take all
// that stands in one for a few rows. Constraints look up posts, timelines and accounts.
func (m *largeImport) readsLittle() {
	m.t.Helper()
	rows, err := m.conn.Query(m.t.Context(), `
		SELECT relname, n_tup_ins, seq_tup_read + coalesce((
			SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0)::bigint
		FROM pg_stat_user_tables t
		WHERE relname IN ('origins', 'comments', 'likes', 'texts', 'text_marks', 'timeline_entries')`)
	if err != nil {
		m.t.Fatal(err)
	}
	var table string
	var wrote, read int64
	_, err = pgx.ForEachRow(rows, []any{&table, &wrote, &read}, func() error {
		m.t.Logf("%s: wrote %d rows, read %d", table, wrote, read)
		if wrote == 0 || read > 3*wrote {
			m.t.Errorf("%s: %d rows were read to write %d, want at most three for each", table, read, wrote)
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *largeImport) count(query string) (n int) {
	m.t.Helper()
	if err := m.conn.QueryRow(m.t.Context(), query).Scan(&n); err != nil {
		m.t.Fatal(err)
	}
	return n
}

// largeImport is a site into which a large archive is imported.
type largeImport struct {
	t          *testing.T
	vars       []string
	file       string
	cluster    *localpg.Cluster
	conn       *pgx.Conn
	postmaster int
}

func newLargeImport(t *testing.T, scale float64, durable bool) *largeImport {
	t.Helper()
	dir := testdb.Dir(t)
	if durable {
		var err error
		if dir, err = os.MkdirTemp("/var/tmp", "riverrun-large-*"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	cluster, err := localpg.Start(t.Context(), localpg.Config{Dir: dir, Volatile: !durable})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	m := &largeImport{t: t, cluster: cluster, vars: []string{"RIVERRUN_DATA=" + dir, "RIVERRUN_LOG_LEVEL=warn", asRiverrun + "=1"}, file: filepath.Join(dir, "archive.json")}
	m.postmaster = postmasterOf(t, dir)
	f, err := os.Create(m.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeArchive(f, ofScale(scale)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	m.run("migrate", (*exec.Cmd).Wait, "migrate")
	if m.conn, err = pgx.Connect(t.Context(), cluster.URL("riverrun")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.conn.Close(context.Background()) })
	return m
}

// taken is what a process took.
type taken struct {
	process, postgresql, wall time.Duration
	memory                    int64 // the most that stood in memory at one time, in bytes
}

// run runs a process of riverrun and says what it took.
func (m *largeImport) run(what string, wait func(*exec.Cmd) error, args ...string) taken {
	m.t.Helper()
	before, began := m.postgresql(), time.Now()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), m.vars...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	memory := make(chan int64)
	ended := make(chan struct{})
	go func() { memory <- watchMemory(cmd.Process.Pid, ended) }()
	err := wait(cmd)
	close(ended)
	if err != nil {
		m.t.Fatalf("%s: %v: %s", what, err, out.String())
	}
	r := taken{
		process: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), postgresql: m.postgresql() - before,
		wall: time.Since(began), memory: <-memory,
	}
	m.t.Logf("%s: processor %.1f s (process %.1f, PostgreSQL %.1f), wall %.1f s, memory %.0f MB\n%s",
		what, (r.process + r.postgresql).Seconds(), r.process.Seconds(), r.postgresql.Seconds(), r.wall.Seconds(), float64(r.memory)/1e6, out.String())
	return r
}

// watchMemory returns the most that the process had in memory at one time.
func watchMemory(pid int, ended <-chan struct{}) (most int64) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err == nil {
			for line := range strings.Lines(string(status)) {
				if of, ok := strings.CutPrefix(line, "VmHWM:"); ok {
					kilobytes, err := strconv.ParseInt(strings.Fields(of)[0], 10, 64)
					if err == nil {
						most = max(most, kilobytes<<10)
					}
				}
			}
		}
		select {
		case <-ended:
			return most
		case <-look.C:
		}
	}
}

// postgresql returns the processor time of all processes of the server since it began.
func (m *largeImport) postgresql() time.Duration {
	m.t.Helper()
	return processorOf(m.t, m.postmaster, true)
}

// left returns how many jobs, and how many notes of changes, are left.
func (m *largeImport) left() (jobs, notes int) {
	m.t.Helper()
	const query = `SELECT (SELECT count(*) FROM queue.river_job WHERE finalized_at IS NULL), (SELECT count(*) FROM behind)`
	if err := m.conn.QueryRow(m.t.Context(), query).Scan(&jobs, &notes); err != nil {
		m.t.Fatal(err)
	}
	return jobs, notes
}

func (m *largeImport) untilIdle() {
	m.t.Helper()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		if jobs, notes := m.left(); jobs+notes == 0 {
			return
		}
		select {
		case <-m.t.Context().Done():
			m.t.Fatal("jobs were never done")
		case <-look.C:
		}
	}
}
