package web_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"riverrun/jobs"
	"riverrun/rivers/lines"
	"riverrun/timelines"
	"riverrun/timelines/hooks"
	"riverrun/timelines/tokens"
	"riverrun/web/webtest"
)

// This file observes what programs are served: answers of all reading operations of the API, the log of
// changes, and what webhooks get. A program is shown no more than its owner.

// ofSite is the viewer of a token, or a webhook, of the whole site. It reads what anybody wrote, and
// nothing that was not sent.
const ofSite = "(the whole site)"

// observedProgram is a program with a token.
type observedProgram struct {
	viewer string // its owner, or ofSite
	token  string
	scopes []tokens.Scope

	states []string // codes of posts beside which it keeps something

	mu     sync.Mutex // guards the fields below
	cursor int64      // in the log
	kept   map[string]*kept
}

// operation is a reading operation, as the OpenAPI document describes it.
type operation struct {
	id, path string
	scope    tokens.Scope
	sent     []parameter
	calls    atomic.Int64 // that were answered with 200
}

type parameter struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
}

// stageOf is the stage that everybody's programs keep.
const stageOf = "language"

// startPrograms gives everybody who looks a program, whose states stand beside some posts, and a webhook.
// Nothing sends webhooks where no jobs run.
func (w *observed) startPrograms() {
	w.t.Helper()
	w.readDocument()
	scopes := []tokens.Scope{tokens.Read, tokens.Changes, tokens.Stages}
	for _, r := range append(slices.Clone(w.people), w.quiet, w.office) {
		w.startProgram(r, r.name, tokens.New{Scopes: scopes})
	}
	w.startProgram(w.office, ofSite, tokens.New{Scopes: scopes[:2], WholeSite: true})
	rng := w.chance(10, 0)
	for _, p := range w.programs[:len(w.people)] {
		for range 4 {
			w.keepState(rng, p)
		}
	}
	if !w.lively {
		return
	}
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(w.receive))
	listener, err := net.Listen("tcp", hookHost+":0")
	if err != nil {
		w.t.Fatal(err)
	}
	err = receiver.Listener.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	receiver.Listener = listener
	receiver.Start()
	w.t.Cleanup(receiver.Close)
	store := hooks.Open(w.nodes[0].Store)
	for _, r := range append(slices.Clone(w.people), w.quiet, w.office) {
		if _, err := store.Create(w.t.Context(), w.viewerOf(r), hooks.New{URL: receiver.URL, WholeSite: r == w.office}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *observed) viewerOf(r *resident) timelines.Viewer {
	w.t.Helper()
	return timelines.Viewer{AccountID: r.Account.ID, Session: webtest.SessionOf(w.t, r.Token)}
}

func (w *observed) startProgram(r *resident, viewer string, n tokens.New) {
	w.t.Helper()
	n.Name, n.Days = "a program", 7
	token, _, err := tokens.Open(w.nodes[0].Store).Create(w.t.Context(), w.viewerOf(r), n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.programs = append(w.programs, &observedProgram{viewer: viewer, token: token, scopes: n.Scopes, kept: map[string]*kept{}})
}

// readDocument finds the reading operations.
func (w *observed) readDocument() {
	w.t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string                `json:"operationId"`
			Security   []map[string][]string `json:"security"`
			Parameters []parameter           `json:"parameters"`
		} `json:"paths"`
	}
	a := w.nodes[0].Visitor().Get("/api/openapi.json").Wants(http.StatusOK)
	if err := json.Unmarshal([]byte(a.Body), &doc); err != nil {
		w.t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if op, ok := doc.Paths[path]["get"]; ok {
			if len(op.Security) == 0 || len(op.Security[0]["token"]) == 0 {
				continue // of sources and hubs, which read no posts
			}
			w.reads = append(w.reads, &operation{id: op.ID, path: path, scope: tokens.Scope(op.Security[0]["token"][0]), sent: op.Parameters})
		}
	}
}

// keepState has a program keep a state beside a post, which says a token of its own.
func (w *observed) keepState(rng *rand.Rand, p *observedProgram) {
	post := w.pick(rng, nil)
	if post == nil {
		return
	}
	token := w.token(said{writing: post, keeper: p.viewer})
	v := w.nodes[0].Visitor()
	v.Header = http.Header{"Authorization": {"Bearer " + p.token}, "Content-Type": {"application/json"}, "If-None-Match": {"*"}}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPut, v.Base+"/api/posts/"+post.code+"/stages/"+stageOf, strings.NewReader(`{"payload":"`+token+`"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header = v.Header
	answer, err := v.Client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	answer.Body.Close()
	s := answer.StatusCode
	if s == http.StatusNoContent {
		p.states = append(p.states, post.code)
	} else if s != http.StatusNotFound && s != http.StatusPreconditionFailed {
		w.t.Errorf("%s keeps a state: status %d", p.viewer, s)
	}
}

// programsOf are the programs of somebody; nobody has none.
func (w *observed) programsOf(who *resident) (found []*observedProgram) {
	for _, p := range w.programs {
		if who != nil && (p.viewer == who.name || p.viewer == ofSite && who == w.office) {
			found = append(found, p)
		}
	}
	return found
}

// anyCall has a program call any reading operation that its token allows.
func (rd *reader) anyCall() {
	p := rd.programs[rd.rng.IntN(len(rd.programs))]
	for {
		op := rd.reads[rd.rng.IntN(len(rd.reads))]
		if slices.Contains(p.scopes, op.scope) {
			rd.callAsAny(rd.node, p, op, rd.rng)
			return
		}
	}
}

// callAsAny calls an operation with anything that may be sent to it. A new parameter that an operation needs must
// be made known here.
func (w *observed) callAsAny(n *webtest.Site, p *observedProgram, op *operation, rng *rand.Rand) {
	path, query, shown := op.path, url.Values{}, ""
	for _, sent := range op.sent {
		switch sent.Name {
		case "code":
			post := w.pick(rng, nil)
			if post == nil {
				return
			}
			code := post.code
			if op.scope == tokens.Stages && len(p.states) > 0 {
				code = p.states[rng.IntN(len(p.states))]
			}
			path = strings.ReplaceAll(path, "{code}", code)
		case "name":
			path = strings.ReplaceAll(path, "{name}", w.someone(rng))
		case "stage":
			path = strings.ReplaceAll(path, "{stage}", stageOf)
		case "page":
			shown = w.anyPage(rng, cmp.Or(map[bool]string{true: inOffice}[p.viewer == ofSite], p.viewer))
			query.Set("page", shown)
		case "after":
			p.mu.Lock()
			after := p.cursor
			p.mu.Unlock()
			if after > 0 && rng.IntN(3) == 0 {
				after = rng.Int64N(after) // it reads again
			}
			query.Set("after", strconv.FormatInt(after, 10))
		case "limit":
			query.Set("limit", strconv.Itoa(1+rng.IntN(500)))
		default:
			if sent.Required {
				w.t.Errorf("the observer cannot call %s: it does not know what %s is", op.id, sent.Name)
				return
			}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	w.call(n, p, op, path, shown)
}

// operationAt is the reading operation with a path.
func (w *observed) operationAt(path string) *operation {
	for _, op := range w.reads {
		if op.path == path {
			return op
		}
	}
	w.t.Fatalf("no operation %s", path)
	return nil
}

// follow has a program read the log to its end.
func (w *observed) follow(n *webtest.Site, p *observedProgram) {
	op := w.operationAt("/api/changes")
	p.mu.Lock()
	after := p.cursor
	p.mu.Unlock()
	w.call(n, p, op, "/api/changes?limit=500&after="+strconv.FormatInt(after, 10), "")
}

// call calls an operation and judges the answer. shown is the page that it is asked for, if it is.
func (w *observed) call(n *webtest.Site, p *observedProgram, op *operation, address, shown string) {
	if op.path == "/api/changes" && !w.lively {
		n.RelayChanges()
	}
	v := n.Visitor()
	v.Header.Set("Authorization", "Bearer "+p.token)
	p.mu.Lock()
	had := p.kept[address]
	p.mu.Unlock()
	if had != nil {
		v.Header.Set("If-None-Match", had.tag)
	}
	s := serving{viewer: p.viewer, address: cmp.Or(shown, address), how: "answer to a program at " + op.id, about: address, from: w.facts.now(), node: n}
	if shown != "" && p.viewer == ofSite {
		s.viewer = inOffice // pages are its owner's
	}
	a := v.Get(address)
	s.to = w.facts.now()
	switch a.Status {
	case http.StatusOK:
		op.calls.Add(1)
		if tag := a.Header.Get("ETag"); tag != "" {
			p.mu.Lock()
			p.kept[address] = &kept{address, tag, a.Body}
			p.mu.Unlock()
		}
	case http.StatusNotModified:
		a.Body = had.body // that is what it says
	case http.StatusNotFound, http.StatusForbidden:
	default:
		w.t.Errorf("GET %s as %s: status %d %.300s", address, p.viewer, a.Status, a.Body)
		return
	}
	if a.Status != http.StatusNotFound && a.Status != http.StatusForbidden {
		w.complain(judgeHeader(s, a))
	}
	seq := w.judgeProgram(s, allOf(a), a.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cursor = max(p.cursor, seq)
}

// judgeProgram judges all that a program was served, with a body of JSON in any number of lines, and returns where the log
// ends there.
func (w *observed) judgeProgram(s serving, all, body string) (seq int64) {
	var posts []lines.Post
	var gone []string
	for line := range strings.Lines(body) {
		var said any
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			w.t.Errorf("%s of %s for %q: %v: %.300s", s.how, s.address, s.viewer, err, line)
			return 0
		}
		found, codes, end := within(said)
		posts, gone, seq = append(posts, found...), append(gone, codes...), max(seq, end)
	}
	s.about += " " + strings.Join(gone, " ")
	w.judge(s, all)
	if testing.Short() {
		return seq // as in judge
	}
	w.facts.mu.RLock()
	defer w.facts.mu.RUnlock()
	for i := range posts {
		w.complain(w.facts.judgePost(s, &posts[i]))
	}
	w.complain(w.facts.judgeGone(s, gone))
	return seq
}

// within finds in JSON all posts, the codes of posts that are gone, and the last number of a log.
func within(all any) (posts []lines.Post, gone []string, seq int64) {
	var each []any
	switch all := all.(type) {
	case []any:
		each = all
	case map[string]any:
		each = slices.Collect(maps.Values(all))
		if _, post := all["liked_by"]; post {
			text, err := json.Marshal(all)
			var p lines.Post
			if err == nil && json.Unmarshal(text, &p) == nil {
				posts = append(posts, p)
			}
		}
		if code, ok := all["code"].(string); ok && all["kind"] == "gone" {
			gone = append(gone, code)
		}
		if text, ok := all["seq"].(string); ok {
			seq, _ = strconv.ParseInt(text, 10, 64) // digits
		}
	}
	for _, in := range each {
		found, codes, end := within(in)
		posts, gone, seq = append(posts, found...), append(gone, codes...), max(seq, end)
	}
	return posts, gone, seq
}

// judgePost says what is wrong with a post but for the texts in it: whom it names, how much it counts, and where it is
// said to stand. It is called with mu held.
func (f *facts) judgePost(s serving, post *lines.Post) (wrong []string) {
	p := f.codes[post.Code]
	if p == nil {
		return nil // its answer is not here yet
	}
	f.note("posts of programs")
	complain := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: %s %s ", s.how, s.address, s.viewer, s.from, s.to, p.id, p.code)+
			fmt.Sprintf(format, args...))
	}
	ever := func(so func(at instant) bool) bool { return f.ever(s.from, s.to, so) }
	seen := func(at instant, name string) bool {
		return f.stands(at, p, func(places []string) bool { return f.sees(at, s.viewer, name, places) })
	}
	counts := func(what string, said int, may func(at instant, name string, so bool) bool) {
		least, most := bounds(f, s, f.residents, may)
		wrong = append(wrong, miscount(s, p, what, said, least, most)...)
	}
	if post.Author.Name != p.author {
		complain("is said to be by %s", post.Author.Name)
	}
	for _, person := range post.LikedBy {
		if !ever(func(at instant) bool { return f.may(at, likes, person.Name, p.id, true) && seen(at, person.Name) }) {
			complain("is liked by %s\n%s", person.Name, f.tellBetween(s.viewer, person.Name))
		}
	}
	counts("likes", post.Likes, func(at instant, name string, so bool) bool { return f.mayLike(at, s.viewer, p, name, so) })
	counts("keepers", post.Saves, func(at instant, name string, so bool) bool { return f.may(at, keeps, name, p.id, so) })
	hidden, most := 0, 0
	for _, c := range f.comments[p] {
		if ever(func(at instant) bool { return f.apart(at, s.viewer, c.author) && f.there(at, c, true) }) {
			most++
		}
	}
	for _, said := range post.Comments {
		if said.Hidden {
			hidden++
			continue
		}
		if said.Author == nil || !ever(func(at instant) bool { return seen(at, said.Author.Name) }) {
			complain("has comment %d by %v, who is not seen", said.ID, said.Author)
			continue
		}
		for _, c := range f.comments[p] {
			if c.number != said.ID {
				continue
			}
			if c.author != said.Author.Name {
				complain("has %s by %s, which is said to be by %s", c.id, c.author, said.Author.Name)
			}
			counts("likes of "+c.id, said.Likes, func(at instant, name string, so bool) bool { return f.mayLike(at, s.viewer, c, name, so) })
		}
	}
	if hidden > most {
		complain("has %d hidden comments, where %d are hidden from them at most", hidden, most)
	}
	least, all := bounds(f, s, f.comments[p], func(at instant, c *writing, so bool) bool { return f.there(at, c, so) })
	if f.showingOf(s.address).kind != onNotices { // it shows answers alone
		wrong = append(wrong, miscount(s, p, "comments", post.Commented, least, all)...)
	}
	for _, to := range post.To {
		if !ever(func(at instant) bool {
			return f.stands(at, p, func(places []string) bool {
				if to == timelines.ToEyes {
					return slices.Contains(places, eyesOf+p.author) && f.opens(at, s.viewer, eyesOf+p.author)
				}
				if slices.Contains(places, to) && f.opens(at, s.viewer, to) {
					return true
				}
				// Those who are written to know each other.
				return slices.Contains(places, directsOf+to) && slices.ContainsFunc(places, func(place string) bool {
					return strings.HasPrefix(place, directsOf) && f.opens(at, s.viewer, place)
				})
			})
		}) {
			complain("is said to stand in %s, where it stands in %v", to, tellHistory(&p.places))
		}
	}
	return wrong
}

// judgeGone complains where a program is told that a post is gone, although its owner never could read the post, and cannot
// read now where it stood. It is called with mu held.
func (f *facts) judgeGone(s serving, codes []string) (wrong []string) {
	for _, code := range codes {
		p := f.codes[code]
		if p == nil {
			continue // its answer is not here yet
		}
		f.note("posts that are gone, to programs")
		stood := []string{p.places.first}
		for _, c := range p.places.changes {
			stood = append(stood, c.value)
		}
		if !f.ever(0, s.to, func(at instant) bool { return f.reads(at, s.viewer, p) }) &&
			!f.ever(s.from, s.to, func(at instant) bool {
				return slices.ContainsFunc(stood, func(joined string) bool {
					places := strings.Split(joined, ",")
					return f.sees(at, s.viewer, p.author, places) && slices.ContainsFunc(places, func(place string) bool { return f.opens(at, s.viewer, place) })
				})
			}) {
			wrong = append(wrong, fmt.Sprintf("%s of %s for %q, decided between %d and %d: told that %s is gone\n%s",
				s.how, s.address, s.viewer, s.from, s.to, code, f.tell("", said{writing: p}, s.viewer)))
		}
	}
	return wrong
}

// hookHost is where webhooks are sent to. The jobs reach it, and not the host of linkOf.
const hookHost = "127.0.0.2"

// timedLines notes when it was decided what a webhook gets.
type timedLines struct {
	jobs.Lines
	*observed
}

// decided is when a delivery was decided, and for whom.
type decided struct {
	viewer   string
	from, to instant
}

func (l timedLines) ReadOn(ctx context.Context, by lines.Reader, after int64, limit int) (found []lines.Line, upTo int64, err error) {
	d := decided{from: l.facts.now()}
	found, upTo, err = l.Lines.ReadOn(ctx, by, after, limit)
	if err != nil || len(found) == 0 {
		return found, upTo, err
	}
	d.to = l.facts.now()
	for _, r := range append(slices.Clone(l.people), l.quiet, l.office) {
		if r.Account.ID == by.Viewer.AccountID {
			d.viewer = r.name
		}
	}
	if by.WholeSite {
		d.viewer = ofSite
	}
	body, err := json.Marshal(struct {
		Changes []lines.Line `json:"changes"`
	}{found})
	if err != nil {
		return nil, 0, err
	}
	l.hookMu.Lock()
	defer l.hookMu.Unlock()
	// Two owners may get the same: then no more than either may read.
	key := sha256.Sum256(body)
	l.decisions[key] = append(l.decisions[key], d)
	return found, upTo, nil
}

// receive judges a delivery.
func (w *observed) receive(answer http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it is sent again
	}
	answer.WriteHeader(http.StatusNoContent)
	w.hookMu.Lock()
	made := w.decisions[sha256.Sum256(body)]
	w.hookMu.Unlock()
	if len(made) == 0 {
		w.complain([]string{"a webhook gets what was not decided: " + string(bytes.TrimSpace(body))})
	}
	for _, d := range made {
		w.delivered.Add(1)
		w.judgeProgram(serving{viewer: d.viewer, address: "/api/changes", how: "delivery to a webhook", from: d.from, to: d.to}, string(body), string(body))
	}
}

// programsWere has each program call all that its token allows once more, and fails if programs
// were served too little to say anything.
func (w *observed) programsWere() {
	w.t.Helper()
	rng := w.chance(11, 0)
	for _, p := range w.programs {
		for _, op := range w.reads {
			if slices.Contains(p.scopes, op.scope) {
				w.callAsAny(w.nodes[0], p, op, rng)
			}
		}
	}
	calls := map[string]int64{}
	for _, op := range w.reads {
		calls[op.id] = op.calls.Load()
		if calls[op.id] == 0 {
			w.t.Errorf("no program was answered by %s", op.id)
		}
	}
	w.t.Logf("programs: %v answers, %d deliveries to webhooks", calls, w.delivered.Load())
	if w.lively && w.delivered.Load() == 0 {
		w.t.Error("no webhook got anything")
	}
}
