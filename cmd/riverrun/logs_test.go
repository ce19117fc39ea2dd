package main

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"riverrun/web/webtest"
)

// logged keeps all that processes and commands write to their logs.
type logged struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// spellings are how a secret might stand in a log.
func spellings(secret string) map[string]string {
	all := map[string]string{
		"as it is": secret, "percent-encoded": url.QueryEscape(secret), "as part of a path": url.PathEscape(secret),
		"quoted": strings.Trim(strconv.Quote(secret), `"`), "in hex": hex.EncodeToString([]byte(secret)),
	}
	// In base64 it looks different after zero, one or two other bytes; what depends on them, or on
	// the bytes behind, is left out.
	for before, skip := range []int{0, 2, 3} {
		for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 of addresses": base64.RawURLEncoding} {
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			all[fmt.Sprintf("in %s after %d bytes", name, before)] = text[skip : len(text)-1]
		}
	}
	return all
}

// stranger is a browser that is signed out, at a process.
func stranger(t *testing.T, p *process) *webtest.Visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &webtest.Visitor{T: t, Base: strings.TrimPrefix(p.said, "riverrun serves "), Header: http.Header{}, Client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// No log has the secrets that let people and programs in, at whatever level: neither when all goes
// well, nor when it is wrong, nor when the database fails.
func TestNoSecretIsLogged(t *testing.T) {
	log, secrets := &logged{}, map[string]string{}
	secret := func(what, text string) string {
		t.Helper()
		if len(text) < 8 {
			t.Fatalf("%s: %q is no secret", what, text)
		}
		secrets[what] = text
		return text
	}
	vars, db := onDatabase(t)
	vars["RIVERRUN_LOG_LEVEL"] = "debug"
	vars["RIVERRUN_FETCH_ALLOW"] = "127.0.0.0/8"
	vars["DATABASE_URL"] = withPassword(t, vars["DATABASE_URL"])
	secret("the database's password", password)
	server := backgroundTo(t, log, vars)

	// People sign up, sign in rightly and wrongly, and change passwords.
	first := secret("a password", "first password, +chosen")
	second := secret("a new password", "second/password & more")
	third := secret("a password chosen by a link", "third password: linked")
	wrong := secret("a wrong password", "a wrong password = guess")
	ann := stranger(t, server)
	session := func(v *webtest.Visitor, what string) {
		t.Helper()
		base, err := url.Parse(v.Base)
		if err != nil {
			t.Fatal(err)
		}
		for _, cookie := range v.Client.Jar.Cookies(base) {
			secret(what, cookie.Value)
			return
		}
		t.Fatalf("%s: no cookie", what)
	}
	ann.Post("/signup", "username", "ann", "password", first).LeadsTo("/welcome/you")
	session(ann, "a session")
	stranger(t, server).Post("/login", "username", "ann", "password", wrong).Wants(http.StatusUnprocessableEntity)
	ann.Post("/settings/password", "present", wrong, "password", second).Wants(http.StatusUnprocessableEntity)
	ann.Post("/settings/password", "present", first, "password", second).Wants(http.StatusSeeOther)
	session(ann, "a session after a new password")
	other := stranger(t, server)
	other.Post("/login", "username", "ann", "password", second).Wants(http.StatusSeeOther)
	session(other, "another session")

	// An administrator's link, an invitation, the token of a source, a push.
	command := func(stdin string, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if err := run(t.Context(), args, environment(vars), strings.NewReader(stdin), &out, log); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return out.String()
	}
	find := func(what, form, text string) string {
		t.Helper()
		m := regexp.MustCompile(form).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s: none in %s", what, text)
		}
		return secret(what, m[1])
	}
	command(secret("a password by command", "fourth password, by hand")+"\n", "account", "create", "bob")
	link := find("a link", `link=([\w-]+)`, command("", "account", "link", "bob"))
	bob := stranger(t, server)
	bob.Get("/login/link?link=" + link).Wants(http.StatusOK)
	bob.Post("/login/link", "link", link, "username", "bob", "password", "short").Wants(http.StatusUnprocessableEntity)
	bob.Post("/login/link", "link", link, "username", "bob", "password", third).LeadsTo("/")
	bob.Post("/login/link", "link", link, "username", "bob", "password", third).Wants(http.StatusNotFound)
	ann.Post("/settings/invitations", "uses", "1", "days", "7").Wants(http.StatusSeeOther)
	invitation := find("an invitation", `signup\?invitation=([A-Z2-7]{26})`, ann.Get("/settings/invitations").Body)
	stranger(t, server).Get("/signup?invitation=" + invitation).Wants(http.StatusOK)
	stranger(t, server).Post("/signup", "username", "cat", "password", first, "invitation", invitation).Wants(http.StatusSeeOther)
	stranger(t, server).Post("/signup", "username", "dan", "password", first, "invitation", invitation).Wants(http.StatusUnprocessableEntity)
	makeToken := func(v *webtest.Visitor, password string) *webtest.Answer {
		return v.Post("/settings/tokens", "name", "A bot", "scope", "read", "days", "7", "present", password)
	}
	makeToken(ann, wrong).Wants(http.StatusUnprocessableEntity)
	appToken := find("an app token", `value="(rr_[\w-]{43})"`, makeToken(ann, second).Body)
	makeHook := func(v *webtest.Visitor, password string) *webtest.Answer {
		return v.Post("/settings/hooks", "url", "http://127.0.0.1:1/hook", "present", password)
	}
	makeHook(ann, wrong).Wants(http.StatusUnprocessableEntity)
	find("the secret of a webhook", `value="(rrwh_[\w-]{43})"`, makeHook(ann, second).Body)
	asCookie := stranger(t, server)
	asCookie.Header.Set("Cookie", webtest.Cookie+"="+appToken)
	asCookie.Get("/settings").Wants(http.StatusSeeOther)
	at := ann.Post("/settings/sources", "way", "push", "title", "A program").Wants(http.StatusSeeOther).Header.Get("Location")
	at, _, _ = strings.Cut(at, "?")
	token := find("the token of a source", `<code>([\w-]{32})</code>`, ann.Post(at+"/token").Body)
	program := stranger(t, server)
	push := func(token string) *webtest.Answer {
		program.Header = http.Header{"Authorization": {"Bearer " + token}}
		return program.Post("/api"+at+"/items", "items", "[]")
	}
	push(token)
	push(secret("a wrong token", "zzzz-wrong-token-of-a-source-zzzz")).Wants(http.StatusUnauthorized)

	// Somebody deletes the account and keeps it, and is suspended and appeals.
	cat := stranger(t, server)
	hidden := func(what string) string {
		t.Helper()
		return find(what, `name="link" value="([\w-]+)"`, cat.Post("/login", "username", "cat", "password", first).Body)
	}
	cat.Post("/login", "username", "cat", "password", first).Wants(http.StatusSeeOther)
	cat.Post("/settings/delete", "present", first).Wants(http.StatusSeeOther)
	kept := hidden("a link to keep an account")
	cat.Post("/login/keep", "link", kept).Wants(http.StatusOK)
	command("", "account", "suspend", "-reason", "spam", "cat")
	appeal := hidden("a link to appeal")
	cat.Post("/login/appeal", "link", appeal, "text", "It was not me.").Wants(http.StatusOK)

	// A browser that wants pushes, whose service answers with an error.
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(service.Close)
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key := secret("the key of a browser", base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()))
	auth := secret("what a browser authenticates by", base64.RawURLEncoding.EncodeToString([]byte("sixteen bytes it")))
	place := secret("the path of a browser's pushes", "a-path-that-nobody-can-guess")
	subscribe := func(v *webtest.Visitor) *webtest.Answer {
		return v.Post("/push", "endpoint", service.URL+"/"+place, "p256dh", key, "auth", auth)
	}
	subscribe(ann)
	hub := secret("the secret of a hub", "abcdefghijklmnopqrstuvwxyz012345")
	code := strings.TrimPrefix(at, "/sources/")
	tell := func() *webtest.Answer { return program.Post("/api/websub/" + code + "/" + hub) }
	tell()
	ann.PostFiles("/files", []webtest.Upload{{Name: "lake.jpg", Content: webtest.Photo(60, 50)}})

	// Backups: one is made, and two are not.
	file := filepath.Join(t.TempDir(), "site.backup")
	command("", "backup", file)
	fails := func(vars map[string]string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		err := run(t.Context(), args, environment(vars), strings.NewReader(""), &out, log)
		if err == nil {
			t.Errorf("%q: no error", args)
		}
		fmt.Fprintln(log, err) // as main does
	}
	fails(vars, "backup", filepath.Join(file, "nowhere"))
	away := map[string]string{
		"DATABASE_URL":   "postgres://rr:" + url.QueryEscape(secrets["the database's password"]) + "@127.0.0.1:1/rr?sslmode=disable",
		"RIVERRUN_FILES": "s3://akey:" + secret("the key of an object store", "key-of-the-object-store") + "@127.0.0.1:1/bucket",
	}
	fails(away, "backup", file+".2")
	fails(away, "serve")
	fails(map[string]string{"DATABASE_URL": "postgres://rr:" + secrets["a wrong token"] + "@127.0.0.1:port/rr"}, "check")
	fails(map[string]string{"RIVERRUN_FETCH_PROXY": "gopher://rr:" + secrets["a wrong token"] + "@127.0.0.1:1"}, "check")
	fails(map[string]string{"RIVERRUN_FILES": "s3://akey:" + secrets["the key of an object store"] + "@/%zz"}, "check")

	// The same while the database fails, here and there.
	rename := func(from, to string) {
		t.Helper()
		if _, err := db.Primary.Exec(t.Context(), `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
			t.Fatal(err)
		}
	}
	before := strings.Count(log.String(), "request failed")
	for _, table := range []string{"accounts", "sessions", "app_tokens", "webhooks", "credentials", "account_links", "invitations", "sources", "source_hubs", "push_subscriptions", "files"} {
		rename(table, "elsewhere")
		for _, v := range []*webtest.Visitor{ann, stranger(t, server)} {
			v.Post("/signup", "username", "eve", "password", first, "invitation", invitation)
			v.Post("/login", "username", "bob", "password", third)
			v.Post("/settings/password", "present", second, "password", first)
			v.Get("/login/link?link=" + link)
			v.Post("/login/link", "link", link, "username", "bob", "password", third)
			v.Post("/login/keep", "link", kept)
			v.Post("/login/appeal", "link", appeal, "text", "It was not me.")
			v.Get("/signup?invitation=" + invitation)
			v.Post("/settings/invitations", "uses", "1", "days", "7")
			makeToken(v, second)
			makeHook(v, second)
			v.Post(at + "/token")
			v.PostFiles("/files", []webtest.Upload{{Name: "lake.jpg", Content: webtest.Photo(60, 50)}})
			subscribe(v)
		}
		push(token)
		tell()
		rename("elsewhere", table)
	}
	if failed := strings.Count(log.String(), "request failed") - before; failed < 10 {
		t.Errorf("%d requests failed, want ten and more", failed)
	}
	server.end(t)

	text := log.String()
	for _, want := range []string{"/login/link", "/signup", "/settings/password", "/api/sources/", "/api/websub/" + code} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no line about %s", want)
		}
	}
	for what, secret := range secrets {
		for how, spelled := range spellings(secret) {
			if before, _, found := strings.Cut(text, spelled); found {
				line := before[strings.LastIndex(before, "\n")+1:]
				t.Errorf("%s is logged, %s: %s…", what, how, line)
			}
		}
	}
}
