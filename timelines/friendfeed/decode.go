package friendfeed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"riverrun/timelines/rules"
)

// The longest texts that are kept: keys in bytes, bodies in characters. Longer ones are
// errors, and are never cut.
const (
	maxKey     = 500
	maxBody    = rules.PostRunes
	maxComment = rules.CommentRunes
)

// maxAttachments is the most links that one entry may have.
const maxAttachments = 1000

// fieldError names the wrong field and its entry.
type fieldError struct {
	id, field string
	err       error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// node is one JSON value with the path that leads to it. All nodes of an entry share the
// first error, so that the code that decodes need not check for one after each step.
type node struct {
	path  string
	value any
	entry *decoding
}

// decoding is shared by the nodes of one entry.
type decoding struct {
	err error
	// group is the id of the group whose feed this is. It is known as a group even where its
	// type is missing.
	group string
	names names
}

// names are usernames by the names of the source. Few people make most of what an archive has, and
// each is mentioned very often.
type names map[string]string

// mostNames bounds names, in any archive.
const mostNames = 10_000

func (known names) of(original string) string {
	name, ok := known[original]
	if !ok {
		if len(known) >= mostNames {
			clear(known)
		}
		name = Name(original)
		known[original] = name
	}
	return name
}

func (n node) fail(format string, args ...any) {
	if n.entry.err == nil {
		n.entry.err = &fieldError{field: n.path, err: fmt.Errorf(format, args...)}
	}
}

func (n node) missing() bool { return n.value == nil }

func (n node) get(key string) node {
	child := node{path: key, entry: n.entry}
	if n.path != "" {
		child.path = n.path + "." + key
	}
	if m, ok := n.value.(map[string]any); ok {
		child.value = m[key]
	}
	return child
}

// object reports whether the value is an object. Another type is an error.
func (n node) object() bool {
	if n.missing() {
		return false
	}
	_, ok := n.value.(map[string]any)
	if !ok {
		n.fail("want an object, got %s", jsonKind(n.value))
	}
	return ok
}

func (n node) list() []node {
	if n.missing() {
		return nil
	}
	values, ok := n.value.([]any)
	if !ok {
		n.fail("want an array, got %s", jsonKind(n.value))
		return nil
	}
	nodes := make([]node, len(values))
	for i, v := range values {
		nodes[i] = node{path: n.path + "[" + strconv.Itoa(i) + "]", value: v, entry: n.entry}
		if _, ok := v.(map[string]any); !ok {
			nodes[i].fail("want an object, got %s", jsonKind(v))
		}
	}
	return nodes
}

func (n node) text() string {
	if n.missing() {
		return ""
	}
	s, ok := n.value.(string)
	if !ok {
		n.fail("want a string, got %s", jsonKind(n.value))
	}
	return s
}

func (n node) required() string {
	s := strings.TrimSpace(n.text())
	if s == "" {
		n.fail("missing")
	}
	return s
}

// key returns a name by which things are found again, unchanged.
func (n node) key() string {
	s := n.required()
	if len(s) > maxKey || clean(s) != s || strings.Contains(s, "\n") {
		n.fail("want at most %d bytes without control characters", maxKey)
	}
	return s
}

func (n node) bool() bool {
	if n.missing() {
		return false
	}
	b, ok := n.value.(bool)
	if !ok {
		n.fail("want true or false, got %s", jsonKind(n.value))
	}
	return b
}

func (n node) size() int64 {
	if n.missing() {
		return 0
	}
	number, ok := n.value.(json.Number)
	if !ok {
		n.fail("want a number, got %s", jsonKind(n.value))
		return 0
	}
	// Some programs write 12 as 12.0.
	f, err := number.Float64()
	if err != nil || f < 0 || f != math.Trunc(f) || f > 1<<53 {
		n.fail("want a number of bytes, got %s", number)
		return 0
	}
	return int64(f)
}

func (n node) date() time.Time {
	s := n.required()
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < 1 {
		n.fail("want a date as RFC 3339 writes it, got %q", s)
		return time.Time{}
	}
	return t.UTC()
}

// body returns a text that somebody wrote, as plain text.
func (n node) body(limit int) string {
	s := Text(n.text())
	if long := utf8.RuneCountInString(s); long > limit {
		n.fail("the text has %d characters, at most %d are kept", long, limit)
	}
	return s
}

func (n node) group(unsaid bool) bool {
	switch s := n.text(); s {
	case "group":
		return true
	case "user":
		return false
	case "":
		return unsaid
	default:
		n.fail(`want "user" or "group", got %q`, s)
		return false
	}
}

func (n node) account(ownTitle bool) Account {
	if !n.object() {
		if n.missing() {
			n.fail("missing")
		}
		return Account{}
	}
	a := Account{ID: n.get("id").key(), Private: n.get("private").bool()}
	a.Name, a.Group = n.entry.names.of(a.ID), n.get("type").group(a.ID == n.entry.group)
	title := n.get("name").text()
	if !ownTitle && !a.Group {
		if person, ok := strings.CutSuffix(title, "'s feed"); ok {
			title, a.OfFeed = person, true
		}
	}
	a.Title = shownTitle(title, a.ID)
	return a
}

func decodeEntry(raw json.RawMessage, known names) (*Entry, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, fmt.Errorf("want an object, got %s", jsonKind(value))
	}
	top := node{value: value, entry: &decoding{names: known}}
	e := &Entry{
		ID: top.get("_id").key(), URL: oneLine(top.get("url").text()), Feed: top.feed(),
		Body: top.get("body").body(maxBody), Date: top.get("date").date(), From: top.get("from").account(true),
	}
	if via := top.get("via"); via.object() {
		e.Via = Via{Name: oneLine(via.get("name").text()), URL: webURL(via.get("url").text())}
	}
	e.To, e.OwnFeed = destinations(top.get("to"), e.From)
	e.Attachments = attachments(top.get("files"), top.get("thumbnails"))
	if n := len(e.Attachments); n > maxAttachments {
		top.get("files").fail("the entry has %d files and pictures, at most %d are kept", n, maxAttachments)
	}
	for _, n := range top.get("comments").list() {
		e.Comments = append(e.Comments, n.comment(e.ID))
	}
	for _, n := range top.get("likes").list() {
		e.Likes = append(e.Likes, Like{Date: n.get("date").date(), From: n.get("from").account(true)})
	}
	if err := top.entry.err; err != nil {
		var fe *fieldError
		if errors.As(err, &fe) {
			fe.id = e.ID
		}
		return nil, err
	}
	return e, nil
}

// feed returns the feed that the file is an archive of.
func (n node) feed() Account {
	id := ""
	if !n.get("feed_id").missing() {
		id = n.get("feed_id").key()
	}
	feed := Account{
		ID: id, Group: n.get("feed_type").group(false),
		Title: n.get("feed_name").text(), About: cut(Text(n.get("feed_description").text()), 5000),
	}
	if id == "" {
		return Account{}
	}
	if feed.Group {
		n.entry.group = id
	}
	feed.Name, feed.Title = Name(id), shownTitle(feed.Title, id)
	return feed
}

func destinations(to node, from Account) (_ []Destination, own bool) {
	var all []Destination
	for _, n := range to.list() {
		direct := n.get("direct").bool()
		d := Destination{Account: n.account(direct), Direct: direct}
		// Nobody can post to another person's feed, so this was a message to them. As a
		// message it is shown to no more people than in that feed.
		if !d.Group && d.ID != from.ID {
			d.Direct = true
		}
		if d.ID == from.ID {
			d.Direct = false
			d.Title, d.OfFeed = from.Title, false
		}
		all = append(all, d)
	}
	if len(all) > 0 {
		return all, false
	}
	return []Destination{{Account: from}}, true
}

func (n node) comment(entryID string) Comment {
	c := Comment{
		ID: n.get("id").key(), Body: n.get("body").body(maxComment),
		Date: n.get("date").date(), From: n.get("from").account(true),
	}
	if via := n.get("via"); via.object() {
		c.Via = oneLine(via.get("name").text())
	}
	// The ids of FriendFeed's comments begin with the entry's. One that does not may stand
	// for another comment under another entry.
	if !strings.HasPrefix(c.ID, entryID+"/") {
		c.ID = entryID + "/c/" + c.ID
	}
	return c
}

// attachments makes links of files and pictures. A picture was a small copy, on servers
// long gone, of the page that it links to. So the link is kept, or the address of the copy
// if several pictures have the same link.
func attachments(files, thumbnails node) []Attachment {
	var all []Attachment
	seen := map[string]bool{}
	for _, n := range files.list() {
		at, title, size := n.get("url").address(), oneLine(n.get("name").text()), n.get("size").size()
		if at == "" {
			n.get("url").fail("missing")
			continue
		}
		if title == "" {
			title = shortURL(at)
		}
		seen[at] = true
		all = append(all, Attachment{URL: at, Title: cut(title, 500), Bytes: size})
	}
	for _, n := range thumbnails.list() {
		at, picture := n.get("link").address(), n.get("url").address()
		if at == "" && picture == "" {
			n.get("url").fail("missing")
			continue
		}
		if at == "" || seen[at] {
			at = picture
		}
		if at == "" || seen[at] {
			continue
		}
		seen[at] = true
		all = append(all, Attachment{URL: at, Title: shortURL(at)})
	}
	return all
}

// address returns a link for people to follow. Anything but a web address is an error.
func (n node) address() string {
	s := strings.TrimSpace(n.text())
	if s == "" {
		return ""
	}
	u := webURL(s)
	if u == "" {
		n.fail("want a web address, got %q", cut(s, 80))
	}
	return u
}

func shownTitle(title, id string) string {
	if title = oneLine(title); title == "" {
		title = oneLine(id)
	}
	return cut(title, 100)
}

// oneLine returns s without control characters and runs of space.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// cut returns s, or its first n-1 characters and an ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

func jsonKind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number, float64:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	case json.Delim:
		if v == '{' {
			return "an object"
		}
		return "an array"
	}
	return "something else"
}
