package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/changes"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/tokens"
	"riverrun/web/api"
	"riverrun/web/webtest"
)

// program is a program with a token.
type program struct {
	*webtest.Site
	token string
}

// program makes a token for somebody.
func programOf(t *testing.T, p *webtest.Person, scopes ...tokens.Scope) *program {
	p.Site.T.Helper()
	fields := []string{"name", "a program", "days", "7", "password", webtest.Password}
	for _, scope := range scopes {
		fields = append(fields, "scope", string(scope))
	}
	return &program{p.Site, newToken(t, p.Visitor(), fields...)}
}

// call calls the API and reads the answer into out, which may be nil.
func (p *program) call(method, path, body string, out any) *http.Response {
	p.T.Helper()
	return p.callIf("", "", method, path, body, out)
}

// callIf is call with another header, a condition.
func (p *program) callIf(header, value, method, path, body string, out any) *http.Response {
	p.T.Helper()
	r, err := http.NewRequestWithContext(p.T.Context(), method, p.HTTP.URL+path, strings.NewReader(body))
	if err != nil {
		p.T.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if header != "" {
		r.Header.Set(header, value)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		p.T.Fatal(err)
	}
	defer a.Body.Close()
	if lines, ok := out.(*[]api.Line); ok && a.StatusCode == http.StatusOK {
		in := bufio.NewScanner(a.Body)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var l api.Line
			if err := json.Unmarshal(in.Bytes(), &l); err != nil {
				p.T.Fatalf("%s: %v", in.Bytes(), err)
			}
			*lines = append(*lines, l)
		}
		return a
	}
	if out != nil {
		if err := json.NewDecoder(a.Body).Decode(out); err != nil {
			p.T.Fatalf("%s %s: status %d, %v", method, path, a.StatusCode, err)
		}
	}
	return a
}

// wants is call with the status that is expected.
func (p *program) wants(status int, method, path, body string, out any) *http.Response {
	p.T.Helper()
	a := p.call(method, path, body, out)
	if a.StatusCode != status {
		p.T.Fatalf("%s %s: status %d, want %d: %+v", method, path, a.StatusCode, status, out)
	}
	return a
}

// A program writes, changes and reads posts as its token's owner, and open pages follow.
func TestProgramsWriteAndRead(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	p := programOf(t, ann, tokens.Read, tokens.Write)
	g := s.Open(bob, "/everything")
	var made, read api.Post
	a := p.wants(201, "POST", "/api/posts", `{"text":"from a program","to":["ann"]}`, &made)
	g.UntilEntry(made.Code)
	if a.Header.Get("Location") != "/api/posts/"+made.Code || a.Header.Get("RateLimit-Remaining") == "" {
		t.Errorf("headers %v", a.Header)
	}
	bob.Comment(made.Code, "seen")
	p.wants(204, "PUT", "/api/posts/"+made.Code+"/like", "", nil)
	p.wants(200, "PATCH", "/api/posts/"+made.Code, `{"text":"changed"}`, nil)
	a = p.wants(200, "GET", "/api/posts/"+made.Code, "", &read)
	if read.Text != "changed" || read.Likes != 1 || read.LikedBy[0].Name != "ann" || len(read.Comments) != 1 || read.Comments[0].Author.Name != "bob" || !slices.Equal(read.To, []string{"ann"}) {
		t.Errorf("the post reads %+v", read)
	}
	if same := p.callIf("If-None-Match", a.Header.Get("ETag"), "GET", "/api/posts/"+made.Code, "", nil); same.StatusCode != http.StatusNotModified {
		t.Errorf("status %d: want that nothing changed", same.StatusCode)
	}
	p.wants(204, "DELETE", "/api/posts/"+made.Code, "", nil)
	p.wants(404, "GET", "/api/posts/"+made.Code, "", nil)
	p.wants(204, "PUT", "/api/accounts/bob/follow", "", nil)
	var page struct {
		Posts []api.Post `json:"posts"`
		Next  string     `json:"next"`
	}
	for range 30 {
		bob.Post("one of many")
	}
	s.FollowUp()
	a = p.wants(200, "GET", "/api/river?page=/", "", &page)
	if len(page.Posts) != 25 || page.Next == "" || !strings.Contains(a.Header.Get("Link"), `rel="next"`) {
		t.Errorf("%d posts, next %q, link %q", len(page.Posts), page.Next, a.Header.Get("Link"))
	}
	older := "/api/river?page=/&before=" + page.Next
	page.Posts = nil
	if p.wants(200, "GET", older, "", &page); len(page.Posts) != 5 {
		t.Errorf("%d older posts, want 5", len(page.Posts))
	}
}

// A token does what its scopes allow, and its owner may, and says in problem+json what is wrong.
func TestProgramsAreRefused(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	secret := bob.Post("for bob alone", timelines.ToEyes)
	own := bob.Post("bob's own")
	all, reads := programOf(t, ann, tokens.Scopes...), programOf(t, ann, tokens.Read)
	none := &program{s, "rr_" + strings.Repeat("A", 43)}
	for what, tc := range map[string]struct {
		by           *program
		method, path string
		body         string
		status       int
		code, field  string
	}{
		"no token":          {none, "GET", "/api/posts/" + own.Code, "", 401, "token_wrong", ""},
		"no scope":          {reads, "POST", "/api/posts", `{"text":"x"}`, 403, "scope_missing", ""},
		"no scope of log":   {reads, "GET", "/api/changes", "", 403, "scope_missing", ""},
		"another's secret":  {all, "GET", "/api/posts/" + secret.Code, "", 404, "missing", ""},
		"no such post":      {all, "GET", "/api/posts/0000000000", "", 404, "missing", ""},
		"another's post":    {all, "DELETE", "/api/posts/" + own.Code, "", 403, "forbidden", ""},
		"empty":             {all, "POST", "/api/posts", `{"text":""}`, 422, "body_empty", "text"},
		"no such place":     {all, "POST", "/api/posts", `{"text":"x","to":["nobody-here"]}`, 422, "to_unknown", "to"},
		"no JSON":           {all, "POST", "/api/posts", `{"text":`, 400, "call_invalid", ""},
		"unknown field":     {all, "POST", "/api/posts", `{"text":"x","color":"red"}`, 422, "call_invalid", "color"},
		"bad bytes":         {all, "POST", "/api/posts", `{"text":"a\u0000b"}`, 422, "text_invalid", "text"},
		"bad id":            {all, "DELETE", "/api/posts/" + own.Code + "/comments/x", "", 422, "call_invalid", "id"},
		"large":             {all, "POST", "/api/posts", `{"text":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "body_large", ""},
		"bad place":         {all, "GET", "/api/river?page=/everything&before=x", "", 422, "call_invalid", "before"},
		"no operation":      {all, "GET", "/api/nothing", "", 404, "missing", ""},
		"no such method":    {all, "PUT", "/api/posts", "", 405, "method", ""},
		"no page":           {all, "GET", "/api/river?page=everything", "", 422, "page_invalid", "page"},
		"bob's own page":    {all, "GET", "/api/river?page=/nobody-here", "", 404, "missing", ""},
		"of another log":    {all, "GET", "/api/changes?after=9007199254740991", "", 410, "changes_gone", ""},
		"no number":         {all, "GET", "/api/changes?after=x", "", 422, "call_invalid", "after"},
		"below zero":        {all, "GET", "/api/changes?after=-1", "", 422, "call_invalid", "after"},
		"bad bytes in code": {all, "GET", "/api/posts/%00", "", 404, "missing", ""},
	} {
		t.Run(what, func(t *testing.T) {
			var got api.Problem
			a := tc.by.call(tc.method, tc.path, tc.body, &got)
			field := ""
			if len(got.Errors) > 0 {
				field = got.Errors[0].Field
			}
			if a.StatusCode != tc.status || got.Status != tc.status || got.Code != tc.code || tc.field != "" && field != tc.field || got.Detail == "" {
				t.Errorf("status %d, %+v; want %d, %s of %q", a.StatusCode, got, tc.status, tc.code, tc.field)
			}
			if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("the answer is %s", kind)
			}
		})
	}
}

// A body that does not say its length is refused as soon as it is over the limit.
func TestALargeBodyInChunks(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	by := programOf(t, s.Person("ann"), tokens.Write)
	text := io.MultiReader(strings.NewReader(`{"text":"`), strings.NewReader(strings.Repeat("x", 2<<20)), strings.NewReader(`"}`))
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.HTTP.URL+"/api/posts", text)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+by.token)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var is api.Problem
	if err := json.NewDecoder(a.Body).Decode(&is); err != nil || a.StatusCode != 413 || is.Status != 413 || is.Code != "body_large" {
		t.Errorf("status %d, %+v, %v", a.StatusCode, is, err)
	}
}

// G8: a program follows what happens, and is told when it may read something no longer. Another one learns nothing of it.
func TestProgramsFollowChanges(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob, eve := s.Person("ann"), s.Person("bob"), s.Person("eve")
	asBob, asEve := programOf(t, bob, tokens.Changes), programOf(t, eve, tokens.Changes)
	after := map[*program]string{asBob: "", asEve: ""}
	follow := func(p *program, want ...string) {
		t.Helper()
		s.RelayChanges()
		var got []string
		var lines []api.Line
		p.wants(200, "GET", "/api/changes?limit=500&after="+after[p], "", &lines)
		for _, l := range lines {
			after[p] = l.Seq
			switch l.Kind {
			case "post":
				got = append(got, fmt.Sprintf("post %s %s", l.Code, l.Post.Text))
			case "gone":
				got = append(got, "gone "+l.Code)
			case "access":
				got = append(got, strings.TrimSpace("access "+l.Of))
			}
		}
		slices.Sort(got)
		got = slices.Compact(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	s.RelayChanges()
	before, err := changes.Open(s.Store, 0).Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for p := range after {
		var lines []api.Line
		p.wants(200, "GET", "/api/changes", "", &lines)
		after[p] = lines[len(lines)-1].Seq
	}
	post, letter := ann.Post("to all"), ann.Post("a letter", "bob")
	follow(asBob, sorted("post "+post.Code+" to all", "post "+letter.Code+" a letter")...)
	follow(asEve, "post "+post.Code+" to all")
	ann.Edit(post.Code, "to all of you")
	bob.Like(post.Code)
	ann.Edit(letter.Code, "another letter")
	follow(asBob, sorted("post "+post.Code+" to all of you", "post "+letter.Code+" another letter")...)
	follow(asEve, "post "+post.Code+" to all of you")
	ann.Remove(letter.Code)
	follow(asBob, "gone "+letter.Code)
	follow(asEve)
	ann.SetAccess("", timelines.Private)
	follow(asEve, "access ann")
	asAnn := programOf(t, ann, tokens.Changes)
	after[asAnn] = strconv.FormatInt(before.Last, 10)
	follow(asAnn, "access", "gone "+letter.Code, "post "+post.Code+" to all of you") // ann still reads her own feed
	ann.Edit(post.Code, "to friends")
	follow(asEve)
	ann.Ban("bob")
	follow(asBob, "access", "access ann")
	follow(asEve) // to whom it is nothing
}

func sorted(list ...string) []string {
	slices.Sort(list)
	return list
}

// G21: the programs of an account keep something beside posts that the account may read, and replace what they know.
func TestProgramsKeepStates(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	post, secret := bob.Post("hello"), bob.Post("for bob alone", timelines.ToEyes)
	p, other, his := programOf(t, ann, tokens.Stages), programOf(t, ann, tokens.Stages), programOf(t, bob, tokens.Stages)
	at := "/api/posts/" + post.Code + "/stages/language"
	put := func(p *program, header, value, at, body string, status int, code string) (string, api.Problem) {
		t.Helper()
		var is api.Problem
		var out any
		if code != "" {
			out = &is
		}
		a := p.callIf(header, value, "PUT", at, body, out)
		if a.StatusCode != status || is.Code != code {
			t.Errorf("PUT %s: status %d, %+v; want %d %s", body, a.StatusCode, is, status, code)
		}
		return a.Header.Get("ETag"), is
	}
	p.wants(404, "GET", at, "", nil)
	first, _ := put(p, "If-None-Match", "*", at, `{"payload": {"lang": "en"}}`, 204, "")
	var state api.State
	a := other.wants(200, "GET", at, "", &state)
	if a.Header.Get("ETag") != first || fmt.Sprintf("%q", fmt.Sprint(state.Version)) != first || string(state.Payload) != `{"lang":"en"}` || state.Stage != "language" {
		t.Errorf("the state reads %+v, tag %s; it was written as %s", state, a.Header.Get("ETag"), first)
	}
	if same := p.callIf("If-None-Match", first, "GET", at, "", nil); same.StatusCode != http.StatusNotModified {
		t.Errorf("status %d: want that nothing changed", same.StatusCode)
	}
	his.wants(404, "GET", at, "", nil) // another account has its own
	put(his, "If-None-Match", "*", at, `{"payload":"his"}`, 204, "")

	second, _ := put(p, "If-Match", "W/"+first, at, `{"payload":2}`, 204, "")
	for header, value := range map[string]string{"If-Match": first, "If-None-Match": "*"} {
		if _, is := put(other, header, value, at, `{"payload":3}`, 412, "state_changed"); is.Version == nil || fmt.Sprintf("%q", fmt.Sprint(*is.Version)) != second {
			t.Errorf("%s: the present version is said to be %v, want %s", header, is.Version, second)
		}
	}
	if _, is := put(p, "If-Match", second, at+"-2", `{"payload":3}`, 412, "state_changed"); is.Version == nil || *is.Version != 0 {
		t.Errorf("where there is none: %+v", is)
	}
	put(p, "", "", at, `{"payload":3}`, 428, "condition_missing")
	put(p, "If-Match", `"0"`, at, `{"payload":3}`, 422, "call_invalid")
	put(p, "If-Match", `*`, at, `{"payload":3}`, 422, "call_invalid")
	put(p, "If-None-Match", second, at, `{"payload":3}`, 422, "call_invalid")
	put(p, "If-Match", second, at, `{}`, 422, "call_invalid")
	put(p, "If-Match", second, at, "{\"payload\":\"\xff\"}", 422, "text_invalid")
	put(p, "If-Match", second, at, `{"payload":"`+strings.Repeat("x", 64<<10)+`"}`, 422, "state_large")
	put(p, "If-None-Match", "*", at+"_", `{"payload":1}`, 422, "call_invalid")
	put(p, "If-None-Match", "*", "/api/posts/"+secret.Code+"/stages/language", `{"payload":1}`, 404, "missing")
	for i := range 20 {
		status, code := 204, ""
		if i == 19 {
			status, code = 422, "stages_many"
		}
		put(p, "If-None-Match", "*", fmt.Sprint(at, i), `{"payload":1}`, status, code)
	}
	if gone := p.callIf("If-Match", first, "DELETE", at, "", nil); gone.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("a state that changed is deleted: status %d", gone.StatusCode)
	}
	p.wants(204, "DELETE", at, "", nil)
	p.wants(204, "DELETE", at, "", nil)
	p.wants(404, "GET", at, "", nil)
	his.wants(200, "GET", at, "", &state)
	bob.SetAccess("", timelines.Private)
	p.wants(404, "DELETE", at+"1", "", nil)
	p.wants(404, "GET", at+"1", "", nil)
	his.wants(200, "GET", at, "", &state)
	bob.Remove(post.Code)
	his.wants(404, "GET", at, "", nil)
}

type param struct {
	Name string `json:"name"`
}

// described is the API's document, as far as tests read it.
type described struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]map[string]struct {
		ID        string                `json:"operationId"`
		Summary   string                `json:"summary"`
		Security  []map[string][]string `json:"security"`
		Responses map[string]any        `json:"responses"`
		Params    []param               `json:"parameters"`
	} `json:"paths"`
	Components struct {
		Schemes map[string]any `json:"securitySchemes"`
	} `json:"components"`
}

// Each operation of the document answers as the document says, with a token that allows it, and refuses one that
// does not: one without the scope, that of another source, that of the other kind.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	inCharge(ann, admin.Moderator)
	own := ann.Post("ann's own")
	said := ann.Comment(own.Code, "ann's word")
	gone := ann.Post("soon gone")
	none := &program{s, "rr_" + strings.Repeat("A", 43)}
	var doc described
	none.wants(200, "GET", "/api/openapi.json", "", &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Paths) < 10 {
		t.Fatalf("document %s of %d paths", doc.OpenAPI, len(doc.Paths))
	}
	bodies := map[string]string{
		"create-post": `{"text":"one"}`, "change-post": `{"text":"two"}`, "create-comment": `{"text":"three"}`, "change-comment": `{"text":"four"}`,
		"put-state":    `{"payload":"five"}`,
		"give-opinion": `{"post":"` + bob.Post("bob's").Code + `","origin":"scan","opinion_id":"1","no":1,"decision":"block","reason":"six"}`,
		"push-items":   `{"id":"a","title":"An item"}`, "push-batch": `{"no":1,"items":[{"id":"b","title":"Another"}]}`, "finish-load": `{"batches":1}`,
	}
	holders := map[tokens.Scope]*program{}
	for _, scope := range tokens.Scopes {
		holders[scope] = programOf(t, ann, scope)
	}
	holders[tokens.Stages].callIf("If-None-Match", "*", "PUT", "/api/posts/"+own.Code+"/stages/of-get", `{"payload":1}`, nil)
	source, other := newPusher(s, ann, sources.New{Title: "Harbour"}), newPusher(s, ann, sources.New{Title: "Quay"})
	hubSecret := strings.Repeat("s", 32)
	_, err := s.DB.Primary.Exec(t.Context(), `INSERT INTO source_hubs (source_id, asked_at, hub, topic, secret) VALUES ($1, now(), 'https://hub.example/', 'https://feed.example/', $2)`, source.source.ID, hubSecret)
	if err != nil {
		t.Fatal(err)
	}
	order := []string{"begin-load", "push-batch", "finish-load", "read-results", "push-items", "delete-comment", "delete-post"} // the others come first
	run := make([]func(), len(order)+1)
	for path, ops := range doc.Paths {
		for method, op := range ops {
			method = strings.ToUpper(method)
			code := own.Code
			switch {
			case op.ID == "delete-post":
				code = gone.Code
			case strings.HasPrefix(path, "/api/sources/"), strings.HasPrefix(path, "/api/websub/"):
				code = source.source.Code
			}
			at := strings.NewReplacer(
				"{code}", code, "{id}", fmt.Sprint(said.CommentID), "{name}", "bob", "{stage}", "of-"+strings.ToLower(method), "{no}", "1", "{secret}", hubSecret,
			).Replace(path)
			switch op.ID {
			case "read-river":
				at += "?page=/everything"
			case "confirm-subscription":
				at += "?hub.mode=subscribe&hub.topic=https://feed.example/&hub.challenge=x"
			}
			call := func() {
				by := none
				switch {
				case len(op.Security) == 0: // the address is the key
					wrong := strings.Replace(at, hubSecret, strings.Repeat("x", 32), 1)
					if a := none.call(method, wrong, "", nil); op.Responses[fmt.Sprint(a.StatusCode)] == nil || a.StatusCode < 400 {
						t.Errorf("%s with another secret: status %d", op.ID, a.StatusCode)
					}
				case op.Security[0]["source"] != nil:
					by = &program{s, source.token}
					for _, wrong := range []string{none.token, other.token, holders[tokens.Write].token} {
						var refused api.Refusal
						(&program{s, wrong}).wants(401, method, at, bodies[op.ID], &refused)
						if refused.Error != "token_wrong" {
							t.Errorf("%s with another token: %+v", op.ID, refused)
						}
					}
				default:
					scope := tokens.Scope(op.Security[0]["token"][0])
					by = holders[scope]
					for has, p := range holders {
						if has != scope {
							var refused api.Problem
							if p.wants(403, method, at, bodies[op.ID], &refused); refused.Code != "scope_missing" {
								t.Errorf("%s with %s: %+v", op.ID, has, refused)
							}
						}
					}
					none.wants(401, method, at, bodies[op.ID], nil)
					(&program{s, source.token}).wants(401, method, at, bodies[op.ID], nil)
				}
				for by := range maps.Keys(merged(op.Security)) {
					if doc.Components.Schemes[by] == nil {
						t.Errorf("%s: the document does not say what %s is", op.ID, by)
					}
				}
				header := ""
				if op.ID == "put-state" {
					header = "If-None-Match"
				}
				a := by.callIf(header, "*", method, at, bodies[op.ID], nil)
				if _, said := op.Responses[fmt.Sprint(a.StatusCode)]; !said || a.StatusCode >= 300 {
					t.Errorf("%s: status %d; the document says %v", op.ID, a.StatusCode, op.Responses)
				}
			}
			i := slices.Index(order, op.ID) + 1
			if before := run[i]; before != nil {
				run[i] = func() { before(); call() }
				continue
			}
			run[i] = call
		}
	}
	for i, call := range run {
		if call == nil {
			t.Fatalf("no operation %s", order[i-1])
		}
		call()
	}
}

// merged are the schemes of an operation.
func merged(security []map[string][]string) map[string][]string {
	all := map[string][]string{}
	for _, one := range security {
		maps.Copy(all, one)
	}
	return all
}

// The document has each address under /api with what stands in it, and no other.
func TestEveryRouteIsAnOperation(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	var doc described
	(&program{s, ""}).wants(200, "GET", "/api/openapi.json", "", &doc)
	var documented, served []string
	for path, ops := range doc.Paths {
		for method, op := range ops {
			documented = append(documented, strings.ToUpper(method)+" "+path)
			for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
				if !slices.ContainsFunc(op.Params, func(p param) bool { return p.Name == m[1] }) {
					t.Errorf("%s does not say what %s is", op.ID, m[0])
				}
			}
		}
	}
	for _, pattern := range s.Server.Patterns() {
		if _, path, _ := strings.Cut(pattern, " "); strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/api/openapi") { // the document itself
			served = append(served, pattern)
		}
	}
	if d := cmp.Diff(sorted(served...), sorted(documented...)); d != "" || len(served) < 25 {
		t.Errorf("%d addresses (-served +documented):\n%s", len(served), d)
	}
}

// The document describes an item by the table of fields, and names all results.
func TestItemsAreDescribed(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string       `json:"required"`
				Properties map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	(&program{s, ""}).wants(200, "GET", "/api/openapi.json", "", &doc)
	item := doc.Components.Schemas["Item"]
	for _, f := range formats.Fields {
		if item.Properties[f.Name] == nil || f.Required != slices.Contains(item.Required, f.Name) {
			t.Errorf("the document says %v of the field %s, required %v", item.Properties[f.Name], f.Name, item.Required)
		}
	}
	enum := doc.Components.Schemas["Result"].Properties["result"].(map[string]any)["enum"]
	want := []any{sources.ResultAdded, sources.ResultChanged, sources.ResultSame, sources.ResultSkipped, sources.ResultRejected}
	if d := cmp.Diff(any(want), enum); d != "" {
		t.Errorf("the results (-want +got):\n%s", d)
	}
}
