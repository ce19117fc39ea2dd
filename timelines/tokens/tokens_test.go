package tokens_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/admin"
	"riverrun/timelines/exports"
	"riverrun/timelines/leaving"
	"riverrun/timelines/signins"
	"riverrun/timelines/tokens"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const password = "a long enough one"

// world is a store, and two nodes that remember it.
type world struct {
	*testing.T
	*timelines.Store
	tokens *tokens.Store
	nodes  [2]*access.Cache
}

func newWorld(t *testing.T) *world {
	t.Parallel()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	store := timelines.Open(testdb.New(t).Primary, silent{}, o)
	return &world{t, store, tokens.Open(store), [2]*access.Cache{access.New(store), access.New(store)}}
}

// silent announces nothing.
type silent struct{}

func (silent) AnnounceTx(context.Context, pgx.Tx, ...timelines.Event) error { return nil }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) done(_ timelines.Change, err error) {
	w.Helper()
	w.must(err)
}

func (w *world) exec(query string, args ...any) {
	w.Helper()
	_, err := w.Pool().Exec(w.Context(), query, args...)
	w.must(err)
}

// person signs somebody up and in.
func (w *world) person(name string) timelines.Viewer {
	w.Helper()
	_, err := w.Accounts.SignUp(w.Context(), timelines.SignUp{Name: name, Password: password})
	w.must(err)
	v, _ := w.signIn(name)
	return v
}

func (w *world) signIn(name string) (v timelines.Viewer, cookie string) {
	w.Helper()
	cookie, a, err := w.Accounts.SignIn(w.Context(), name, password)
	w.must(err)
	session, _ := timelines.SessionOf(cookie)
	return timelines.Viewer{AccountID: a.ID, Session: session}, cookie
}

func (w *world) make(v timelines.Viewer, n tokens.New) string {
	w.Helper()
	token, c, err := w.tokens.Create(w.Context(), v, n)
	w.must(err)
	if c.Clock == 0 {
		w.Error("nobody is told of a new token")
	}
	return token
}

func (w *world) list(v timelines.Viewer) []tokens.Token {
	w.Helper()
	all, err := w.tokens.List(w.Context(), v.AccountID)
	w.must(err)
	return all
}

// advance brings both nodes to the clock, as a request does.
func (w *world) advance() {
	w.Helper()
	n, err := w.AccessClock(w.Context())
	w.must(err)
	for _, node := range w.nodes {
		w.must(node.Advance(w.Context(), timelines.Clock{Epoch: 1, N: n}))
	}
}

// token asks both nodes for the token; they must agree.
func (w *world) token(text string) (access.Token, error) {
	w.Helper()
	w.advance()
	first, err := w.nodes[0].Token(w.Context(), text)
	second, other := w.nodes[1].Token(w.Context(), text)
	if diff := cmp.Diff(first, second); diff != "" || !errors.Is(other, err) {
		w.Errorf("two nodes say %v and %v of a token: %s", err, other, diff)
	}
	return first, err
}

func (w *world) wantsEnded(what, text string) {
	w.Helper()
	if got, err := w.token(text); !errors.Is(err, timelines.ErrSignedOut) {
		w.Errorf("%s: got %+v, %v, want ErrSignedOut", what, got, err)
	}
}

func aToken(scopes ...tokens.Scope) tokens.New {
	return tokens.New{Name: "a program", Scopes: scopes, Days: 30}
}

// Each scope holds where it was given, and only there.
func TestScopes(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	for _, scope := range tokens.Scopes {
		got, err := w.token(w.make(ann, aToken(scope, scope)))
		w.must(err)
		if got.Viewer.AccountID != ann.AccountID || got.WholeSite || got.ID == 0 {
			t.Errorf("%s: got %+v", scope, got)
		}
		for _, other := range tokens.Scopes {
			if got.May(other) != (other == scope) {
				t.Errorf("a token for %s: May(%s) is %v", scope, other, got.May(other))
			}
		}
		w.must(w.nodes[0].CheckSession(t.Context(), got.Viewer))
	}
}

// A form that is wrong makes no token, and the error says why.
func TestBadTokens(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	for code, n := range map[string]tokens.New{
		"title_empty":      {Name: " \u200b ", Scopes: []tokens.Scope{tokens.Read}, Days: 7},
		"token_name_long":  {Name: strings.Repeat("я", tokens.MaxName+1), Scopes: []tokens.Scope{tokens.Read}, Days: 7},
		"text_invalid":     {Name: "a\x00b", Scopes: []tokens.Scope{tokens.Read}, Days: 7},
		"token_scopes":     {Name: "a", Days: 7},
		"token_days":       {Name: "a", Scopes: []tokens.Scope{tokens.Read}, Days: 8},
		"token_whole_site": {Name: "a", Scopes: []tokens.Scope{tokens.Read}, Days: 7, WholeSite: true},
	} {
		_, _, err := w.tokens.Create(t.Context(), ann, n)
		if is, ok := errors.AsType[*timelines.InvalidError](err); !ok || is.Code != code {
			t.Errorf("%+v: got %v, want %s", n, err, code)
		}
	}
	if _, _, err := w.tokens.Create(t.Context(), ann, aToken(tokens.Read, "root")); err == nil {
		t.Error("a token with an unknown scope is made")
	}
	w.make(ann, tokens.New{Name: "  two \n words " + strings.Repeat("я", tokens.MaxName-10), Scopes: []tokens.Scope{tokens.Write, tokens.Read}, Days: 7})
	got := w.list(ann)[0]
	want := tokens.Token{Name: "two words " + strings.Repeat("я", tokens.MaxName-10), Scopes: []tokens.Scope{tokens.Read, tokens.Write}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(tokens.Token{}, "ID", "Made", "Ends")); diff != "" {
		t.Error(diff)
	}
	if good := got.Ends.Sub(got.Made); good != 7*24*time.Hour {
		t.Errorf("a token for 7 days is good for %v", good)
	}
}

// The limit of tokens holds for each account, and tokens that ended do not count.
func TestMostTokens(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	for i := range tokens.Most {
		w.make(ann, tokens.New{Name: fmt.Sprint(i), Scopes: []tokens.Scope{tokens.Read}, Days: 7})
	}
	if _, _, err := w.tokens.Create(t.Context(), ann, aToken(tokens.Read)); !isFull(err) {
		t.Errorf("one token more than the limit: %v", err)
	}
	w.exec(`UPDATE sessions SET expires_at = now() - interval '1 s' WHERE token_hash IN (SELECT token_hash FROM app_tokens ORDER BY id LIMIT 1)`)
	if got := len(w.list(ann)); got != tokens.Most-1 {
		t.Errorf("%d tokens are listed, want those that have not ended: %d", got, tokens.Most-1)
	}
	w.make(ann, aToken(tokens.Read))
	w.make(w.person("bob"), aToken(tokens.Read))
}

func isFull(err error) bool {
	is, ok := errors.AsType[*timelines.InvalidError](err)
	return ok && is.Code == "tokens_many"
}

// A token that is made at the same time as another one counts it. One that is made during a change of password or a
// suspension is not made.
func TestMadeMeanwhile(t *testing.T) {
	for what, tc := range map[string]struct {
		before  int
		queries []string
		wants   func(error) bool
	}{
		"another token": {tokens.Most - 1, []string{
			`SELECT FROM credentials WHERE account_id = $1 FOR SHARE`,
			`WITH s AS (INSERT INTO sessions (token_hash, account_id, expires_at) VALUES (sha256('a'), $1, now() + interval '1 h') RETURNING *)
			INSERT INTO app_tokens (token_hash, account_id, name, scopes) SELECT token_hash, account_id, 'a', '{read}' FROM s`,
		}, isFull},
		"a new password": {0, []string{
			`UPDATE credentials SET updated_at = now() WHERE account_id = $1`,
			`DELETE FROM sessions WHERE account_id = $1`,
		}, func(err error) bool { return errors.Is(err, timelines.ErrSignedOut) }},
		"a suspension": {0, []string{
			`SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE`,
			`DELETE FROM sessions WHERE account_id = $1`,
		}, func(err error) bool { return errors.Is(err, timelines.ErrSignedOut) }},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			ann := w.person("ann")
			for range tc.before {
				w.make(ann, aToken(tokens.Read))
			}
			held, err := w.Pool().Begin(t.Context())
			w.must(err)
			defer func() { _ = held.Rollback(context.Background()) }() // it is committed already, if all went well
			for _, query := range tc.queries {
				_, err := held.Exec(t.Context(), query, ann.AccountID)
				w.must(err)
			}
			made := make(chan error, 1)
			go func() {
				_, _, err := w.tokens.Create(t.Context(), ann, aToken(tokens.Read))
				made <- err
			}()
			w.waitBlocked()
			w.must(held.Commit(t.Context()))
			if err := <-made; !tc.wants(err) {
				t.Errorf("a token is made meanwhile: %v", err)
			}
		})
	}
}

// waitBlocked returns when a statement in this database waits for a lock.
func (w *world) waitBlocked() {
	w.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for waits := 0; waits == 0; runtime.Gosched() {
		w.must(w.Pool().QueryRow(w.Context(), `SELECT count(*)::int FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits))
		if time.Now().After(deadline) {
			w.Fatal("never saw a statement wait for a lock")
		}
	}
}

// A token ends by itself, on a node that remembers it too.
func TestExpired(t *testing.T) {
	w := newWorld(t)
	text := w.make(w.person("ann"), aToken(tokens.Read))
	w.exec(`UPDATE sessions SET expires_at = now() + interval '2 s' WHERE token_hash IN (SELECT token_hash FROM app_tokens)`)
	got, err := w.token(text)
	w.must(err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel() // the node says so by itself, until it has to ask
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); w.nodes[0].CheckSession(cancelled, got.Viewer) == nil; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the token does not end")
		}
	}
	w.wantsEnded("one that expired", text)
	if err := w.nodes[0].CheckSession(t.Context(), got.Viewer); !errors.Is(err, timelines.ErrSignedOut) {
		t.Errorf("what decides for an expired token: %v", err)
	}
}

// Tokens end by all that ends sessions, on every node as of the acknowledgement.
func TestEnds(t *testing.T) {
	for what, end := range map[string]func(w *world, ann timelines.Viewer) (timelines.Change, error){
		"revoked": func(w *world, ann timelines.Viewer) (timelines.Change, error) {
			return w.tokens.Revoke(w.Context(), ann, w.list(ann)[0].ID)
		},
		"a new password": func(w *world, _ timelines.Viewer) (timelines.Change, error) {
			return w.Accounts.ChangePassword(w.Context(), "ann", "quite another one")
		},
		"all other sessions": func(w *world, ann timelines.Viewer) (timelines.Change, error) {
			return signins.Open(w.Store).End(w.Context(), ann, "")
		},
		"suspended": func(w *world, _ timelines.Viewer) (timelines.Change, error) {
			return admin.Open(w.Store).Suspend(w.Context(), admin.By{}, "ann", admin.Suspension{Reason: "spam"})
		},
		"deleted": func(w *world, ann timelines.Viewer) (timelines.Change, error) {
			c, _, err := leaving.Open(w.Store).Leave(w.Context(), ann.AccountID)
			return c, err
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			ann, bob := w.person("ann"), w.person("bob")
			text, others := w.make(ann, aToken(tokens.Read)), w.make(bob, aToken(tokens.Read))
			got, err := w.token(text) // both nodes remember it now
			w.must(err)
			c, err := end(w, ann)
			w.must(err)
			if c.Clock == 0 {
				t.Error("the access clock does not move")
			}
			w.wantsEnded(what, text)
			for _, node := range w.nodes {
				if err := node.CheckSession(t.Context(), got.Viewer); !errors.Is(err, timelines.ErrSignedOut) {
					t.Errorf("what decides for the token: %v", err)
				}
			}
			if _, err := w.token(others); err != nil {
				t.Errorf("the token of somebody else: %v", err)
			}
		})
	}
}

// Nobody revokes the token of somebody else. One's own sign-out ends no token, and neither does a token
// that ended before.
func TestRevoke(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	text := w.make(ann, aToken(tokens.Read))
	id := w.list(ann)[0].ID
	w.done(w.tokens.Revoke(t.Context(), bob, id))
	w.done(w.tokens.Revoke(t.Context(), ann, id+1000))
	w.done(w.Accounts.SignOut(t.Context(), ann))
	if _, err := w.token(text); err != nil {
		t.Errorf("the token ended: %v", err)
	}
	ann, _ = w.signIn("ann")
	w.done(w.tokens.Revoke(t.Context(), ann, id))
	w.done(w.tokens.Revoke(t.Context(), ann, id))
	w.wantsEnded("one that was revoked", text)
}

// A session that has ended makes no token, so none outlives a new password.
func TestMadeInASessionThatEnded(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	w.done(w.Accounts.ChangePassword(t.Context(), "ann", "quite another one"))
	if _, _, err := w.tokens.Create(t.Context(), ann, aToken(tokens.Read)); !errors.Is(err, timelines.ErrSignedOut) {
		t.Errorf("got %v, want ErrSignedOut", err)
	}
	if got := w.list(ann); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
}

// The session of a token opens no page, and that of a browser is no token. Lists of one have none of the other.
func TestTwoKindsOfSessions(t *testing.T) {
	w := newWorld(t)
	w.person("ann")
	ann, cookie := w.signIn("ann")
	text := w.make(ann, aToken(tokens.Scopes...))
	got, err := w.token(text)
	w.must(err)
	if v, err := w.nodes[0].Session(t.Context(), got.Viewer.Session); !errors.Is(err, timelines.ErrSignedOut) {
		t.Errorf("the session of a token opens pages for %+v, %v", v, err)
	}
	if _, ok := timelines.SessionOf(text); ok {
		t.Error("a token is taken for a cookie")
	}
	if s, _ := timelines.SessionOf(strings.TrimPrefix(text, "rr_")); s == got.Viewer.Session {
		t.Error("a part of a token is the cookie of its session")
	}
	for _, text := range []string{cookie, "rr_" + cookie, "", "rr_", text + "A", text[:len(text)-1], strings.ToUpper(text)} {
		w.wantsEnded(text, text)
	}
	// A row whose hash is that of a text with the form of a token, and which is the session of a browser.
	hash := sha256.Sum256([]byte("rr_" + cookie))
	w.exec(`INSERT INTO sessions (token_hash, account_id, expires_at) VALUES ($1, $2, now() + interval '1 h')`, hash[:], ann.AccountID)
	w.wantsEnded("the session of a browser", "rr_"+cookie)
	w.exec(`DELETE FROM sessions WHERE token_hash = $1`, hash[:])

	sessions, err := signins.Open(w.Store).List(t.Context(), ann)
	w.must(err)
	if len(sessions) != 2 || len(w.list(ann)) != 1 {
		t.Errorf("got %d sessions and %d tokens, want 2 and 1", len(sessions), len(w.list(ann)))
	}
}

// Administrators alone make tokens that read the whole site, and these do so as long as the role lasts.
func TestWholeSite(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	whole := aToken(tokens.Changes)
	whole.WholeSite = true
	staff := admin.Open(w.Store)
	wants := func(want bool, text string) {
		t.Helper()
		got, err := w.token(text)
		w.must(err)
		if got.WholeSite != want || !got.May(tokens.Changes) {
			t.Errorf("got %+v, want one that reads the whole site: %v", got, want)
		}
	}
	for _, role := range []admin.Role{admin.Nobody, admin.Moderator} {
		w.done(staff.SetRole(t.Context(), admin.By{}, "ann", role))
		if _, _, err := w.tokens.Create(t.Context(), ann, whole); !errors.Is(err, timelines.ErrForbidden) {
			t.Errorf("%q: got %v, want ErrForbidden", role, err)
		}
	}
	w.done(staff.SetRole(t.Context(), admin.By{}, "ann", admin.Administrator))
	text := w.make(ann, whole)
	wants(true, text)
	wants(false, w.make(ann, aToken(tokens.Changes)))
	w.done(staff.SetRole(t.Context(), admin.By{}, "ann", admin.Moderator))
	wants(false, text)
}

// The last use of a token is noted with that of sessions.
func TestUsed(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	got, err := w.token(w.make(ann, aToken(tokens.Read)))
	w.must(err)
	if used := w.list(ann)[0].Used; used != nil {
		t.Errorf("a new token was used at %v", used)
	}
	later := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	for _, at := range []time.Time{later, later.Add(-time.Hour)} {
		w.must(signins.Open(w.Store).Used(t.Context(), map[timelines.Session]time.Time{got.Viewer.Session: at, ann.Session: at}))
		if used := w.list(ann)[0].Used; used == nil || !used.Equal(later) {
			t.Errorf("got %v, want %v", used, later)
		}
	}
}

// A cached token costs no statement.
func TestNoStatement(t *testing.T) {
	w := newWorld(t)
	text := w.make(w.person("ann"), aToken(tokens.Read))
	_, err := w.token(text)
	w.must(err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel() // a statement would fail
	got, err := w.nodes[0].Token(cancelled, text)
	w.must(err)
	w.must(w.nodes[0].CheckSession(cancelled, got.Viewer))
}

// The person's other sessions hear that a token was made or revoked, though the session that made it ended.
func TestTold(t *testing.T) {
	w := newWorld(t)
	here := w.person("ann")
	there, _ := w.signIn("ann")
	w.make(here, aToken(tokens.Read))
	events := func() (kinds []string) {
		t.Helper()
		w.advance()
		sets, err := w.nodes[0].Sets(t.Context(), here.AccountID)
		w.must(err)
		for _, e := range sets.Events {
			kinds = append(kinds, e.Kind+" "+e.Device)
			if string(e.Session) != string(here.Session[:]) {
				t.Errorf("%+v is not told as the doing of the session that did it", e)
			}
		}
		return kinds
	}
	if diff := cmp.Diff([]string{"token a program"}, events()); diff != "" {
		t.Error(diff)
	}
	w.done(w.tokens.Revoke(t.Context(), here, w.list(here)[0].ID))
	if diff := cmp.Diff([]string{"token_revoked a program", "token a program"}, events()); diff != "" {
		t.Error(diff)
	}
	list, err := signins.Open(w.Store).List(t.Context(), there)
	w.must(err)
	w.done(signins.Open(w.Store).End(t.Context(), there, list[1].ID))
	if diff := cmp.Diff([]string{"token_revoked a program", "token a program"}, events()); diff != "" {
		t.Error(diff)
	}
}

// An archive of what somebody has names their tokens, among no sessions, and has no hash.
func TestArchived(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	w.make(ann, aToken(tokens.Read))
	rows := map[string][]string{}
	for _, s := range exports.Sections {
		if s.Name == "app_tokens" || s.Name == "sessions" {
			w.must(exports.Open(w.Store).Rows(t.Context(), ann.AccountID, s, func(row json.RawMessage) error {
				rows[s.Name] = append(rows[s.Name], string(row))
				return nil
			}))
		}
	}
	if len(rows["sessions"]) != 1 || len(rows["app_tokens"]) != 1 {
		t.Fatalf("got %q, want one of each", rows)
	}
	if got := rows["app_tokens"][0]; !strings.Contains(got, "a program") || strings.Contains(got, "hash") {
		t.Errorf("got %s", got)
	}
}
