//go:build soak

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// visitor is somebody's browser, signed in or not, which goes on with another node where
// one does not answer.
type visitor struct {
	site   *site
	name   string // "" for nobody
	client *http.Client
	rng    *rand.Rand
}

func (s *site) visitor(name string, rng *rand.Rand) *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	v := &visitor{site: s, name: name, rng: rng, client: &http.Client{
		Jar: jar, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if name != "" {
		status, text := v.form(s.nodes[0], "/signup", url.Values{"username": {name}, "title": {name}, "password": {passwordOf(name)}})
		if status != http.StatusOK && status != http.StatusSeeOther {
			s.t.Fatalf("sign up %s: %d %.300s", name, status, text)
		}
	}
	return v
}

func passwordOf(name string) string { return "quite-long-" + name + "-pw" }

// ask sends a request and returns what was answered, 0 if nothing was. Cookies know no
// ports: both nodes are sent the same.
func (v *visitor) ask(n *node, method, path string, form url.Values) (int, string) {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+n.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.site.t.Error(err)
		return 0, ""
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "application/json")
	}
	response, err := v.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	if s := response.StatusCode; s >= 500 && s != http.StatusServiceUnavailable {
		v.site.blame(fmt.Sprintf("%s %s as %q: %d", method, path, v.name, s))
	}
	return response.StatusCode, string(text)
}

func (v *visitor) form(n *node, path string, form url.Values) (int, string) {
	return v.ask(n, http.MethodPost, path, form)
}

func (v *visitor) node() *node { return v.site.nodes[v.rng.IntN(len(v.site.nodes))] }

// fact is something one person alone changes: the values that were acknowledged last or
// may have been written since by a form that nobody answered.
type fact struct{ values []string }

// ledger is what was acknowledged.
type ledger struct {
	mu       sync.Mutex // guards what follows
	facts    map[string]*fact
	codes    []string // of posts that were not deleted
	answered map[int]int
}

func (l *ledger) set(key, value string, acknowledged bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.facts[key]
	if f == nil {
		f = &fact{values: []string{""}} // not there
		l.facts[key] = f
	}
	if acknowledged {
		f.values = f.values[:0]
	}
	if !slices.Contains(f.values, value) {
		f.values = append(f.values, value)
	}
}

func (l *ledger) code(rng *rand.Rand) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.codes) == 0 {
		return ""
	}
	newest := l.codes[max(0, len(l.codes)-40):]
	return newest[rng.IntN(len(newest))]
}

// writer is a person who writes, likes and deletes, one form after the other.
type writer struct {
	*visitor
	ledger *ledger
	mine   []string // codes of my posts
	number int
}

// live acts until it is over.
func (w *writer) live(over <-chan struct{}) {
	for {
		pause := time.NewTimer(time.Duration(500+w.rng.IntN(1000)) * time.Millisecond) // 60 forms a minute are allowed
		select {
		case <-over:
			pause.Stop()
			return
		case <-pause.C:
		}
		w.step()
	}
}

func (w *writer) step() {
	code := w.ledger.code(w.rng)
	switch k := w.rng.IntN(10); {
	case code == "" || k < 3:
		w.post()
	case k < 5:
		w.number++
		text := fmt.Sprintf("said %s %d", w.name, w.number)
		w.send("comment "+w.name+" "+code+" "+text, text, "/p/"+code+"/comments", url.Values{"body": {text}, "key": {key(w)}})
	case k < 7:
		w.send("like "+w.name+" "+code, "yes", "/p/"+code+"/like", nil)
	case k < 8:
		w.send("like "+w.name+" "+code, "", "/p/"+code+"/unlike", nil)
	case k < 9 && len(w.mine) > 0:
		code := w.mine[w.rng.IntN(len(w.mine))]
		w.number++
		text := fmt.Sprintf("edited %s %d", w.name, w.number)
		w.send("post "+code, text, "/p/"+code+"/edit", url.Values{"body": {text}})
	case len(w.mine) > 3:
		i := w.rng.IntN(len(w.mine))
		code := w.mine[i]
		w.mine = slices.Delete(w.mine, i, i+1)
		w.ledger.mu.Lock()
		w.ledger.codes = slices.DeleteFunc(w.ledger.codes, func(c string) bool { return c == code })
		w.ledger.mu.Unlock()
		w.send("post "+code, "", "/p/"+code+"/delete", nil)
	}
}

func key(w *writer) string { return fmt.Sprintf("soak-%s-%d", w.name, w.number) }

// post writes a post; where no answer comes the same form is sent again, to another node.
func (w *writer) post() {
	w.number++
	body := fmt.Sprintf("text %s %d", w.name, w.number)
	form := url.Values{"body": {body}, "key": {key(w)}}
	for range 3 {
		status, text := w.send("body "+body, body, "/posts", form)
		if status != http.StatusOK {
			if status == 0 || status >= 500 {
				continue
			}
			return
		}
		var frame struct{ Post string }
		if err := json.Unmarshal([]byte(text), &frame); err != nil || frame.Post == "" {
			w.site.t.Errorf("a new post was answered %q: %v", text, err)
			return
		}
		w.ledger.set("post "+frame.Post, body, true)
		w.mine = append(w.mine, frame.Post)
		w.ledger.mu.Lock()
		w.ledger.codes = append(w.ledger.codes, frame.Post)
		w.ledger.mu.Unlock()
		return
	}
}

// send sends a form that gives a fact a value, and notes the result.
func (w *writer) send(fact, value, path string, form url.Values) (int, string) {
	status, text := w.form(w.node(), path, form)
	w.ledger.mu.Lock()
	w.ledger.answered[status]++
	w.ledger.mu.Unlock()
	switch status {
	case http.StatusOK, http.StatusSeeOther:
		w.ledger.set(fact, value, true)
	case 0, http.StatusServiceUnavailable:
		w.ledger.set(fact, value, false) // it may be saved
	case http.StatusNotFound, http.StatusTooManyRequests: // deleted by its author; nothing is done
	case http.StatusInternalServerError: // see ask
		w.ledger.set(fact, value, false)
	default:
		w.site.t.Errorf("%s as %s: answered %d %.200s", path, w.name, status, text)
	}
	return status, text
}

// keeps compares what was acknowledged with what stands in the primary store.
func (l *ledger) keeps(t testing.TB, s *site, when string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.primary.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) // read only
	stands := map[string][]string{}
	for _, query := range []string{
		`SELECT 'post ' || code, body FROM posts WHERE deleted_at IS NULL`,
		`SELECT 'like ' || a.name || ' ' || p.code, 'yes' FROM likes l JOIN accounts a ON a.id = l.account_id JOIN posts p ON p.id = l.post_id`,
		`SELECT 'comment ' || a.name || ' ' || p.code || ' ' || c.body, c.body
			FROM comments c JOIN accounts a ON a.id = c.author_id JOIN posts p ON p.id = c.post_id WHERE c.deleted_at IS NULL`,
		`SELECT 'body ' || body, body FROM posts WHERE deleted_at IS NULL`,
	} {
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		var what, value string
		if _, err := pgx.ForEachRow(rows, []any{&what, &value}, func() error {
			stands[what] = append(stands[what], value)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	bad := 0
	for what, f := range l.facts {
		words, got := strings.Fields(what), stands[what]
		value := ""
		if len(got) > 0 {
			value = got[0]
		}
		switch words[0] {
		case "body": // what became of the post is the fact of its code
			if len(got) < 2 {
				continue
			}
		case "like", "comment":
			if stands["post "+words[2]] == nil { // deleted, with all that was in it
				continue
			}
		}
		if len(got) > 1 || !slices.Contains(f.values, value) {
			if bad++; bad <= 10 {
				t.Errorf("%s: %s: stands as %q, acknowledged %q", when, what, got, f.values)
			}
		}
	}
	t.Logf("%s: of %d facts %d are not as acknowledged; answers so far %v", when, len(l.facts), bad, l.answered)
}
