package timelines

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func (w *town) signUp(name, password string) Account {
	w.Helper()
	a, err := w.Accounts.SignUp(w.Context(), SignUp{Name: name, Password: password})
	w.must(err)
	return a
}

func (w *town) signIn(name, password string) Viewer {
	w.Helper()
	token, a, err := w.Accounts.SignIn(w.Context(), name, password)
	w.must(err)
	s, ok := SessionOf(token)
	if !ok {
		w.Fatalf("SessionOf(%q): got nothing, want the session of that token", token)
	}
	return Viewer{AccountID: a.ID, Session: s}
}

// session returns whose session it is and when it ends; 0 if it is none.
func (w *town) session(s Session) (account int64, expires time.Time) {
	w.Helper()
	err := w.pool.QueryRow(w.Context(), `SELECT account_id, expires_at FROM sessions WHERE token_hash = $1 AND expires_at > now()`, s[:]).
		Scan(&account, &expires)
	if !errors.Is(err, pgx.ErrNoRows) {
		w.must(err)
	}
	return account, expires
}

func (w *town) lives(s Session) bool {
	w.Helper()
	account, _ := w.session(s)
	return account != 0
}

func TestSignIn(t *testing.T) {
	w := newTown(t)
	bob := w.signUp("bob", "correct horse")
	w.user("imported")
	w.group(bob, "club", Public)
	for _, tc := range []struct{ name, password string }{
		{"bob", "correct house"},
		{"bob", ""},
		{"nobody", "correct horse"},
		{"imported", "correct horse"},
		{"imported", ""},
		{"club", "correct horse"},
		{"groups", "correct horse"},
		{"b\x00b", "correct horse"},
		{"", ""},
	} {
		token, a, err := w.Accounts.SignIn(t.Context(), tc.name, tc.password)
		if !errors.Is(err, ErrBadCredentials) || token != "" || a != (Account{}) {
			t.Errorf("SignIn(%q, %q): got %q, %v, %v; want %v", tc.name, tc.password, token, a, err, ErrBadCredentials)
		}
	}
	// No new account is called so, but one of before signs in.
	w.exec(`UPDATE accounts SET name = 'zed-' WHERE id = $1`, w.signUp("zed", "correct horse").ID)
	w.must(w.Accounts.VerifyPassword(t.Context(), "zed-", "correct horse"))
	v := w.signIn("bob", "correct horse")
	account, expires := w.session(v.Session)
	w.same("session's account", account, bob.ID)
	if left, want := time.Until(expires), w.opts.SessionAge; left > want || left < want-time.Minute {
		t.Errorf("session's age: got %v, want %v", left, want)
	}
	if other := w.signIn("bob", "correct horse"); other.Session == v.Session {
		t.Error("signing in twice: got one session, want two")
	}
	w.same("sessions", value[int](w, `SELECT count(*)::int FROM sessions`), 2)
}

func TestSessionOf(t *testing.T) {
	t.Parallel()
	token := newToken()
	a, ok := SessionOf(token)
	if b, _ := SessionOf(newToken()); !ok || a == b || a == (Session{}) {
		t.Errorf("SessionOf(%q): got %x, %v; want a hash of its own", token, a, ok)
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || slices.Equal(a[:], raw) {
		t.Errorf("token %q: %v, hash %x; want 32 bytes and not themselves", token, err, a)
	}
	for _, in := range []string{"", token[1:], token + "A", token + "=", "+" + token[1:], strings.Repeat("A", 1000)} {
		if s, ok := SessionOf(in); ok || s != (Session{}) {
			t.Errorf("SessionOf(%.50q): got %x, %v; want nothing", in, s, ok)
		}
	}
}

func TestSignOut(t *testing.T) {
	w := newTown(t)
	w.signUp("bob", "correct horse")
	v, other := w.signIn("bob", "correct horse"), w.signIn("bob", "correct horse")
	before := w.clock()
	c, err := w.Accounts.SignOut(t.Context(), v)
	w.must(err)
	w.same("change", c, Change{Actor: v.AccountID, Clock: before + 1})
	w.same("logged", w.logged(before), []Invalidation{
		{N: before + 1, AccountID: v.AccountID, Kind: "session", TokenHash: v.Session[:]},
	})
	w.same("the session", w.lives(v.Session), false)
	w.same("the other session", w.lives(other.Session), true)

	// Again: nothing to do, but the answer must wait for the first one's number.
	c, err = w.Accounts.SignOut(t.Context(), v)
	w.must(err)
	w.same("change, again", c, Change{Actor: v.AccountID, Clock: before + 1})
	w.same("clock", w.clock(), before+1)
}

func TestSetPasswordEndsSessions(t *testing.T) {
	w := newTown(t)
	bob := w.signUp("bob", "correct horse")
	w.signUp("ann", "correct horse")
	bobs := [][]byte{}
	for range 2 {
		v := w.signIn("bob", "correct horse")
		bobs = append(bobs, v.Session[:])
	}
	anns := w.signIn("ann", "correct horse")
	before := w.clock()
	c, err := w.Accounts.ChangePassword(t.Context(), "bob", "battery staple")
	w.must(err)
	w.same("change", c, Change{Actor: bob.ID, Clock: before + 1})
	var ended [][]byte
	for _, r := range w.logged(before) {
		if r.Kind == InvalidSession {
			ended = append(ended, r.TokenHash)
		}
	}
	slices.SortFunc(ended, slices.Compare)
	slices.SortFunc(bobs, slices.Compare)
	w.same("ended sessions", ended, bobs)
	// Each change has a number, since people hear of it, also where no session is left.
	c, err = w.Accounts.ChangePassword(t.Context(), "bob", "battery staple")
	w.must(err)
	w.same("change where no session is left", c, Change{Actor: bob.ID, Clock: before + 2})
	w.same("another's session", w.lives(anns.Session), true)
	_, _, err = w.Accounts.SignIn(t.Context(), "bob", "correct horse")
	w.fails("the old password", err, ErrBadCredentials)
	w.signIn("bob", "battery staple")

	w.user("imported")
	w.must(second(w.Accounts.ChangePassword(t.Context(), "imported", "a first one")))
	w.signIn("imported", "a first one")
	w.same("whom a new password is told", value[string](w, `SELECT string_agg(DISTINCT account_id::text, ' ') FROM account_events WHERE kind = 'password'`), fmt.Sprint(bob.ID))
	w.same("clock where no session ended", w.clock(), before+3)

	w.group(bob, "club", Public)
	w.fails("a group", second(w.Accounts.ChangePassword(t.Context(), "club", "correct horse")), ErrNotFound)
	w.fails("nobody", second(w.Accounts.ChangePassword(t.Context(), "nobody", "correct horse")), ErrNotFound)
	w.invalid("a short one", second(w.Accounts.ChangePassword(t.Context(), "bob", "short")), "password_short")
}

// A sign-in that verified the old password must not begin a session after the
// change of password ended them all.
func TestSignInAgainstChangedPassword(t *testing.T) {
	w := newTown(t)
	bob := w.signUp("bob", "correct horse")
	changing := w.hold()
	_, err := changing.Exec(t.Context(), `UPDATE credentials SET password_hash = 'another' WHERE account_id = $1`, bob.ID)
	w.must(err)
	signIn := during(func() error {
		_, _, err := w.Accounts.SignIn(t.Context(), "bob", "correct horse")
		return err
	})
	w.waitBlocked(1)
	_, err = changing.Exec(t.Context(), `DELETE FROM sessions WHERE account_id = $1`, bob.ID)
	w.must(err)
	w.must(changing.Commit(t.Context()))
	w.fails("sign-in with the old password", signIn(), ErrBadCredentials)
	w.same("sessions", value[int](w, `SELECT count(*)::int FROM sessions`), 0)
}

func TestExpireSessions(t *testing.T) {
	w := newTown(t)
	w.signUp("bob", "correct horse")
	for range 3 {
		w.signIn("bob", "correct horse")
	}
	w.exec(`UPDATE sessions SET expires_at = now()`)
	fresh := w.signIn("bob", "correct horse")
	before := w.clock()
	for i, want := range []int64{2, 1, 0} {
		got, err := w.Maintenance.ExpireSessions(t.Context(), 2)
		if err != nil || got != want {
			t.Errorf("ExpireSessions, round %d: got %d, %v; want %d", i, got, err, want)
		}
	}
	w.same("clock", w.clock(), before+2)
	w.same("logged", len(w.logged(before)), 3)
	w.same("the session that lasts", w.lives(fresh.Session), true)
}

func TestVerifyPasswordSignsNobodyIn(t *testing.T) {
	w := newTown(t)
	if _, err := w.Accounts.SignUp(t.Context(), SignUp{Name: "ann", Title: "Ann", Password: "correct horse"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, password string
		want           error
	}{
		{"ann", "correct horse", nil},
		{"ann", "correct house", ErrBadCredentials},
		{"nobody", "correct horse", ErrBadCredentials},
	} {
		if err := w.Accounts.VerifyPassword(t.Context(), c.name, c.password); !errors.Is(err, c.want) {
			t.Errorf("verify %s %q: got %v, want %v", c.name, c.password, err, c.want)
		}
	}
	var sessions int
	if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM sessions`).Scan(&sessions); err != nil {
		t.Fatal(err)
	}
	if sessions != 0 {
		t.Errorf("%d sessions begun", sessions)
	}
}
