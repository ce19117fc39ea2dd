//go:build soak

package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/localpg"
	"riverrun/migrations/testdb"
)

// site is two database servers and two nodes, each a process that can be killed.
type site struct {
	t                  testing.TB
	program            string
	files              string // the directory of uploads, which the nodes share
	primary, secondary *server
	nodes              []*node

	mu     sync.Mutex // guards blamed
	blamed []string
}

// blame notes an answer that says it was the site's own fault: 500, where only a database
// was away.
func (s *site) blame(answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blamed = append(s.blamed, answer)
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{t: t, program: filepath.Join(t.TempDir(), "riverrun"), files: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.program, "riverrun/cmd/riverrun")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	s.primary, s.secondary = newServer(t, "primary"), newServer(t, "secondary")
	for i := range 2 {
		s.nodes = append(s.nodes, newNode(s, i))
	}
	return s
}

// environment is what every process of the site runs with.
func (s *site) environment() []string {
	return append(os.Environ(), "DATABASE_URL="+s.primary.url, "RIVERS_DATABASE_URL="+s.secondary.url,
		"RIVERRUN_DATA=/dev/null/nowhere", "RIVERRUN_FIRST_DAY=0", "RIVERRUN_FILES="+s.files, "RIVERRUN_LOG_LEVEL=warn")
}

// command runs one of riverrun's commands to its end.
func (s *site) command(args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), s.program, args...)
	cmd.Env = s.environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// server is a PostgreSQL that can be killed. Its commits survive that; they would not
// survive a crash of the machine.
type server struct {
	t       testing.TB
	name    string
	dir     string
	url     string
	cluster *localpg.Cluster
}

func newServer(t testing.TB, name string) *server {
	t.Helper()
	s := &server{t: t, name: name, dir: testdb.Dir(t)}
	s.start()
	t.Cleanup(func() {
		if err := s.cluster.Stop(context.Background()); err != nil {
			t.Errorf("stop the %s server: %v", name, err)
		}
	})
	return s
}

func (s *server) start() {
	s.t.Helper()
	var err error
	s.cluster, err = localpg.Start(s.t.Context(), localpg.Config{
		Dir: s.dir, Volatile: true, Settings: map[string]string{"synchronous_commit": "on"},
	})
	if err != nil {
		s.t.Fatalf("start the %s server: %v", s.name, err)
	}
	s.url = s.cluster.URL("postgres")
}

// kill ends the server as a crash of it would, and leaves the directory to the next.
func (s *server) kill() {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "postgresql", "postmaster.pid"))
	if err != nil {
		s.t.Fatalf("kill the %s server: %v", s.name, err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		s.t.Fatalf("kill the %s server: %v", s.name, err)
	}
	if err := s.cluster.Stop(s.t.Context()); err != nil {
		s.t.Fatalf("after killing the %s server: %v", s.name, err)
	}
}

// exec runs a statement from outside, and returns how many rows it concerned.
func (s *server) exec(query string, args ...any) int64 {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.url)
	if err != nil {
		s.t.Fatalf("%s: %v", s.name, err)
	}
	tag, err := conn.Exec(s.t.Context(), query, args...)
	if err = errors.Join(err, conn.Close(s.t.Context())); err != nil {
		s.t.Fatalf("%s: %s: %v", s.name, query, err)
	}
	return tag.RowsAffected()
}

// node is one process of `riverrun serve`, always at the same address.
type node struct {
	site    *site
	address string
	log     string // a file
	cmd     *exec.Cmd
	ended   chan struct{}

	mu       sync.Mutex // guards expected
	expected bool       // that it ends
}

func newNode(s *site, number int) *node {
	s.t.Helper()
	listener, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	n := &node{site: s, address: listener.Addr().String(), log: filepath.Join(s.t.TempDir(), fmt.Sprintf("node-%d.log", number))}
	if err := listener.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if n.cmd != nil && n.cmd.Process != nil {
			n.kill()
		}
		if text, err := os.ReadFile(n.log); s.t.Failed() && err == nil {
			s.t.Logf("%s, the end of its log:\n%s", n.address, text[max(0, len(text)-6000):])
		}
	})
	n.start()
	return n
}

// start starts the process and returns when it serves.
func (n *node) start() {
	t := n.site.t
	t.Helper()
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the process has its own
	n.cmd = exec.Command(n.site.program, "serve")
	n.cmd.Env = append(n.site.environment(), "RIVERRUN_LISTEN="+n.address)
	n.cmd.Stderr = log
	out, err := n.cmd.StdoutPipe()
	if err == nil {
		err = n.cmd.Start()
	}
	if err != nil {
		t.Fatalf("start a node: %v", err)
	}
	n.expect(false)
	n.ended = make(chan struct{})
	lines := bufio.NewScanner(out)
	served := lines.Scan()
	go func() {
		defer close(n.ended)
		for lines.Scan() { // it says nothing more
		}
		err := n.cmd.Wait()
		n.mu.Lock()
		defer n.mu.Unlock()
		if !n.expected {
			t.Errorf("node %s ended by itself: %v", n.address, err)
		}
	}()
	if !served {
		t.Fatalf("node %s does not serve", n.address)
	}
}

func (n *node) expect(end bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.expected = end
}

// kill ends the process without a word.
func (n *node) kill() {
	n.expect(true)
	_ = n.cmd.Process.Kill() // it may have ended
	<-n.ended
}

// ready waits until the node answers again.
func (n *node) ready(within time.Duration) {
	n.site.t.Helper()
	eventually(n.site.t, within, func() string {
		response, err := http.Get("http://" + n.address + "/readyz")
		if err != nil {
			return err.Error()
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return n.address + " is not ready: " + response.Status
		}
		return ""
	})
}

// eventually waits until nothing is wrong any more, and returns how long that took.
func eventually(t testing.TB, within time.Duration, wrong func() string) time.Duration {
	t.Helper()
	began := time.Now()
	often := time.NewTicker(50 * time.Millisecond)
	defer often.Stop()
	for {
		what := wrong()
		if what == "" {
			return time.Since(began)
		}
		if time.Since(began) > within {
			t.Fatalf("still after %v: %s", within, what)
		}
		<-often.C
	}
}
