package signins_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/signins"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const password = "a long enough one"

// person signs somebody up, and returns a function that signs them in, in another browser each time.
func person(t *testing.T, store *timelines.Store, name string) (signIn func() timelines.Viewer) {
	t.Helper()
	if _, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: name, Password: password}); err != nil {
		t.Fatal(err)
	}
	return func() timelines.Viewer {
		t.Helper()
		token, a, err := store.Accounts.SignIn(t.Context(), name, password)
		if err != nil {
			t.Fatal(err)
		}
		session, ok := timelines.SessionOf(token)
		if !ok {
			t.Fatalf("token %q is none", token)
		}
		return timelines.Viewer{AccountID: a.ID, Session: session}
	}
}

func open(t *testing.T) *timelines.Store {
	t.Parallel()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	return timelines.Open(testdb.New(t).Primary, nil, o)
}

func TestDevice(t *testing.T) {
	for header, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0":                                                                  "Firefox, Linux",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1": "Safari, iOS",
		"":                              "",
		"\xff\xfe":                      "",
		strings.Repeat("x", 300) + "/1": "",
	} {
		if got := signins.Device(header); got != want {
			t.Errorf("%.40q: got %q, want %q", header, got, want)
		}
	}
}

// A person sees their own sessions, ends them one by one or all others, and nobody else's.
func TestSessions(t *testing.T) {
	store := open(t)
	s := signins.Open(store)
	ann, bob := person(t, store, "ann"), person(t, store, "bob")
	here, there, third, others := ann(), ann(), ann(), bob()
	list := func(v timelines.Viewer) []signins.Session {
		t.Helper()
		list, err := s.List(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if c, err := s.Begun(t.Context(), there, "Firefox, Linux"); err != nil || c.Clock == 0 {
		t.Errorf("the others are not told of a sign-in: %+v, %v", c, err)
	}
	if c, err := s.Begun(t.Context(), others, "Safari, iOS"); err != nil || c.Clock != 0 && list(others)[0].Device != "Safari, iOS" {
		t.Errorf("the first session of an account: %+v, %v", c, err)
	}
	id := func(device string) string {
		t.Helper()
		for _, one := range list(here) {
			if one.Device == device && !one.Here {
				return one.ID
			}
		}
		t.Fatalf("no session of %q in %+v", device, list(here))
		return ""
	}
	if got := list(here); len(got) != 3 || !got[0].Here || got[1].Here {
		t.Fatalf("got %+v, want three and the present one first", got)
	}
	for _, bad := range []string{"x", "00", strings.Repeat("0", 2*len(here.Session)+2)} {
		if _, err := s.End(t.Context(), here, bad); !errors.Is(err, timelines.ErrNotFound) {
			t.Errorf("end %q: %v", bad, err)
		}
	}
	if _, err := s.End(t.Context(), here, list(others)[0].ID); err != nil || len(list(others)) != 1 {
		t.Errorf("ended the session of somebody else: %v", err)
	}
	if _, err := s.End(t.Context(), here, id("Firefox, Linux")); err != nil {
		t.Error(err)
	}
	if got := list(third); len(got) != 2 {
		t.Errorf("got %+v, want the two that are left", got)
	}
	if _, err := s.End(t.Context(), here, ""); err != nil {
		t.Error(err)
	}
	if got := list(here); len(got) != 1 || !got[0].Here {
		t.Errorf("got %+v, want the present one alone", got)
	}
}

// A session's last use only moves forward, and a session that ended is left out.
func TestUsed(t *testing.T) {
	store := open(t)
	s := signins.Open(store)
	ann := person(t, store, "ann")
	here, gone := ann(), ann()
	if _, err := store.Accounts.SignOut(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	for _, at := range []time.Time{later, later.Add(-time.Hour)} {
		if err := s.Used(t.Context(), map[timelines.Session]time.Time{here.Session: at, gone.Session: at}); err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), here)
		if err != nil || len(list) != 1 || !list[0].Used.Equal(later) {
			t.Errorf("got %+v, %v, want one that was used at %v", list, err, later)
		}
	}
}
