//go:build soak

package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
)

var kills = flag.Int("kills", 200, "how often TestLogIsKilled kills something")

// program follows the log of the whole site by the API, as one outside does: it long-polls whichever node answers, and
// keeps the number of the last line that it read.
type program struct {
	*visitor
	token string

	mu     sync.Mutex // guards what follows
	cursor int64
	seen   map[string]int64    // where each change stood, by its id
	posts  map[string]lastLine // by code
	lines  int
	tries  map[int]int // by status
}

// lastLine is the last that was heard of a post.
type lastLine struct {
	gone    bool
	version int64
	text    string
}

var tokenForm = regexp.MustCompile(`value="(rr_[\w-]{43})"`)

// indexer makes a token of the whole site for an administrator of its own.
func (s *site) indexer(rng *rand.Rand) *program {
	s.t.Helper()
	const name = "indexer"
	v := s.visitor(name, rng)
	if out, err := s.command("account", "admin", name); err != nil {
		s.t.Fatalf("make %s an administrator: %v\n%s", name, err, out)
	}
	_, page := v.form(s.nodes[0], "/settings/tokens", url.Values{
		"name": {"an indexer"}, "scope": {"changes"}, "days": {"7"}, "whole_site": {"1"}, "present": {passwordOf(name)},
	})
	m := tokenForm.FindStringSubmatch(page)
	if m == nil {
		s.t.Fatalf("no token was made: %.1000s", page)
	}
	return &program{visitor: v, token: m[1], seen: map[string]int64{}, posts: map[string]lastLine{}, tries: map[int]int{}}
}

// follow follows the log until it is over.
func (p *program) follow(over <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-over; cancel() }()
	for ctx.Err() == nil {
		if p.poll(ctx, p.node()) {
			continue
		}
		wait := time.NewTimer(200 * time.Millisecond)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// poll asks once, and reports whether it was answered.
func (p *program) poll(ctx context.Context, n *node) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	p.mu.Lock()
	after := p.cursor
	p.mu.Unlock()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/api/changes?wait=5&limit=100&after=%d", n.address, after), nil)
	if err != nil {
		p.site.t.Error(err)
		return false
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.count(0)
		return false
	}
	defer answer.Body.Close()
	p.count(answer.StatusCode)
	switch s := answer.StatusCode; {
	case s == http.StatusOK:
	case s == http.StatusServiceUnavailable, s == http.StatusTooManyRequests:
		return false
	case s >= http.StatusInternalServerError:
		p.site.blame(fmt.Sprintf("GET /api/changes: %d", s))
		return false
	default:
		p.site.t.Errorf("GET /api/changes after %d is answered %d", after, s)
		return false
	}
	in := bufio.NewReader(answer.Body)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return true // a line that was cut off is read again
		}
		p.take(line)
	}
}

func (p *program) count(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries[status]++
}

// take takes a line. The log moves on alone, no change stands in it twice, and no post goes back to an older version.
func (p *program) take(line []byte) {
	t := p.site.t
	var l struct {
		Seq, ID, Kind, Code string
		Post                *struct {
			Version int64
			Text    string
		}
	}
	err := json.Unmarshal(line, &l)
	var seq int64
	if err == nil {
		seq, err = strconv.ParseInt(l.Seq, 10, 64)
	}
	if err != nil {
		t.Errorf("a line says %q: %v", line, err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.Kind == "end" {
		p.cursor = max(p.cursor, seq)
		return
	}
	p.lines++
	if seq <= p.cursor {
		t.Errorf("after %d comes %s", p.cursor, line)
	}
	p.cursor = seq
	if at, twice := p.seen[l.ID]; twice {
		t.Errorf("the change %s comes at %d and at %d", l.ID, at, seq)
	}
	p.seen[l.ID] = seq
	was := p.posts[l.Code]
	switch l.Kind {
	case "gone":
		was.gone = true
		p.posts[l.Code] = was
	case "post":
		if was.gone || l.Post.Version < was.version {
			t.Errorf("%s goes back from %+v to version %d", l.Code, was, l.Post.Version)
		}
		p.posts[l.Code] = lastLine{version: l.Post.Version, text: l.Post.Text}
	}
}

// lacks compares what came with the posts of the primary store, now that nothing happens.
func (p *program) lacks() string {
	conn, err := pgx.Connect(p.site.t.Context(), p.site.primary.url)
	if err != nil {
		return err.Error()
	}
	defer conn.Close(context.Background()) // read only
	rows, err := conn.Query(p.site.t.Context(), `SELECT code, version, body, deleted_at IS NOT NULL FROM posts`)
	if err != nil {
		return err.Error()
	}
	var code string
	var is lastLine
	var wrong []string
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&code, &is.version, &is.text, &is.gone}, func() error {
		n++
		had, ok := p.posts[code]
		switch {
		case !ok, is.gone != had.gone, !is.gone && is != had:
			wrong = append(wrong, fmt.Sprintf("of %s came %+v, it is %+v", code, had, is))
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	if n == 0 {
		return "there are no posts"
	}
	if len(wrong) > 0 {
		return fmt.Sprintf("a program has %d of %d posts wrong after %d lines: %s", len(wrong), n, p.lines, strings.Join(wrong[:min(3, len(wrong))], "; "))
	}
	return ""
}

func (p *program) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("a program has %d posts from %d lines; its polls so far %v", len(p.posts), p.lines, p.tries)
}

// Nodes, whose relays move changes to the log, and now and then the database server are killed at random moments while
// people write. No change is lost to a program that follows the log, none comes twice, and each post's stay in order.
func TestLogIsKilled(t *testing.T) {
	seed, _ := testdb.Chance(t)
	chance := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	s := newSite(t)
	l := &ledger{facts: map[string]*fact{}, answered: map[int]int{}}
	p := s.indexer(chance(100))
	var writers []*writer
	for i, name := range []string{"annie", "bobby", "cathy", "danny", "edith", "frank"} {
		writers = append(writers, &writer{visitor: s.visitor(name, chance(uint64(i))), ledger: l})
	}
	closing, over := make(chan struct{}), make(chan struct{})
	var following, living sync.WaitGroup
	following.Go(func() { p.follow(closing) })
	defer following.Wait()
	defer close(closing)
	for _, w := range writers {
		living.Go(func() { w.live(over) })
	}
	rng := chance(1000)
	servers := 0
	for i := 0; i < *kills && !t.Failed(); i++ {
		moment(time.Duration(rng.IntN(500)) * time.Millisecond)
		if rng.IntN(8) == 0 {
			s.crash(rng, s.primary)
			servers++
			continue
		}
		n := s.nodes[rng.IntN(len(s.nodes))]
		n.kill()
		n.start()
	}
	for _, n := range s.nodes {
		n.ready(serves)
	}
	close(over)
	living.Wait()
	l.keeps(t, s, "after the kills")
	settled := eventually(t, whole, p.lacks)
	if out, err := s.command("check"); err != nil {
		t.Errorf("check: %s", out)
	}
	t.Logf("%d kills, %d of them of the database server; whole after %.1fs; %v", *kills, servers, settled.Seconds(), p)
}
