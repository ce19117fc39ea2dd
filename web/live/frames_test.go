package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/rivers"
	"riverrun/web/view"
)

func TestParseFrame(t *testing.T) {
	alice := "alice"
	tests := map[string]struct {
		in   string
		want clientFrame
	}{
		"subscribe": {
			in: `{"t":"subscribe","page":"/alice/likes?order=created","lang":"ru","viewer":"alice","river":"9007199254740993","entries":{"aB3":"12.14","x":"1.2.zz.later"},"down":"1763683200000000.x","unread":3}`,
			want: clientFrame{subscribe: &subscribeFrame{
				path: "/alice/likes", query: url.Values{"order": {"created"}}, lang: "ru", viewer: &alice,
				river: 9007199254740993, lowestPosition: 1763683200000000, lowestCode: "x", unread: 3, entries: map[string]view.Version{
					"aB3": {Stamp: rivers.Stamp{Entry: 12, Fold: 14}},
					"x":   {Stamp: rivers.Stamp{Entry: 1, Fold: 2}, Tag: 35*36 + 35},
				},
			}},
		},
		"outside program": {
			in:   `{"t":"subscribe","page":"/everything","since":"a later version's field"}`,
			want: clientFrame{subscribe: &subscribeFrame{path: "/everything", query: url.Values{}, unread: unasked}},
		},
		"seen": {in: `{"t":"seen"}`, want: clientFrame{seen: true}},
		"drop": {
			in:   `{"t":"drop","river":"7","entries":{"x":"1.2"}}`,
			want: clientFrame{drop: &dropFrame{river: 7, entries: map[string]view.Version{"x": {Stamp: rivers.Stamp{Entry: 1, Fold: 2}}}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseFrame([]byte(tt.in))
			if err != nil {
				t.Fatalf("parseFrame(%s): %v", tt.in, err)
			}
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(clientFrame{}, subscribeFrame{}, dropFrame{}, view.Version{})); d != "" {
				t.Errorf("parseFrame(%s) (-want +got):\n%s", tt.in, d)
			}
		})
	}
}

func TestParseFrameRefuses(t *testing.T) {
	many := make(map[string]string)
	for i := range maxEntries + 1 {
		many[fmt.Sprint("c", i)] = "1.1"
	}
	crowd, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{
		``, `null`, `[]`, `"subscribe"`, `{}`, `{"t":"shout"}`, `{"t":1}`,
		`{"t":"subscribe"}`,
		`{"t":"subscribe","page":"everything"}`,
		`{"t":"subscribe","page":"//elsewhere.example/"}`,
		`{"t":"subscribe","page":"/a?b=%zz"}`,
		`{"t":"subscribe","page":"/%00"}`,
		`{"t":"subscribe","page":"/%ff"}`,
		`{"t":"subscribe","page":"/` + strings.Repeat("a", maxAddress) + `"}`,
		`{"t":"subscribe","page":"/","river":"-1"}`,
		`{"t":"subscribe","page":"/","river":"9223372036854775808"}`,
		`{"t":"subscribe","page":"/","river":7}`,
		`{"t":"subscribe","page":"/","lang":"` + strings.Repeat("e", 17) + `"}`,
		`{"t":"subscribe","page":"/","entries":["a"]}`,
		`{"t":"subscribe","page":"/","down":"12"}`,
		`{"t":"subscribe","page":"/","unread":-1}`,
		`{"t":"subscribe","page":"/","unread":"3"}`,
		`{"t":"subscribe","page":"/","down":"0.aB3"}`,
		`{"t":"subscribe","page":"/","down":"12.a b"}`,
		`{"t":"subscribe","page":"/","entries":{"a":"1"}}`,
		`{"t":"subscribe","page":"/","entries":{"a":"-1.1"}}`,
		`{"t":"subscribe","page":"/","entries":{"a":"1.1.!"}}`,
		`{"t":"subscribe","page":"/","entries":{"a\"":"1.1"}}`,
		`{"t":"subscribe","page":"/","entries":{"":"1.1"}}`,
		`{"t":"subscribe","page":"/","entries":` + string(crowd) + `}`,
		`{"t":"drop","river":"7","entries":["a"]}`,
		`{"t":"drop","river":"7","entries":{"<":"1.1"}}`,
		`{"t":"subscribe","page":"/"` + strings.Repeat(" ", maxFrame) + `}`,
	} {
		_, err := parseFrame([]byte(in))
		var bad *malformedError
		if !errors.As(err, &bad) {
			t.Errorf("parseFrame(%.120s) = %v, want a malformedError", in, err)
		}
	}
}

func TestServerFrames(t *testing.T) {
	html, err := jsonHTML([]byte("<p>\"1 < 2\" & </p>\n\u2028\\"))
	if err != nil {
		t.Fatal(err)
	}
	var set [view.PartCount]json.RawMessage
	set[view.PartBody], set[view.PartComments] = html, html
	at := view.Version{Stamp: rivers.Stamp{Entry: 3, Fold: 9}, Tag: 36}
	text := "<p>\"1 < 2\" & </p>\n\u2028\\"
	for _, tt := range []struct {
		frame []byte
		want  map[string]any
	}{
		{frameRiver(1 << 62), map[string]any{"t": "river", "river": "4611686018427387904"}},
		{frameOK(5, true, "5f"), map[string]any{"t": "ok", "river": "5", "more": true, "sight": "5f"}},
		{frameGone(5, "abc", at.Stamp), map[string]any{"t": "gone", "river": "5", "post": "abc", "version": "3.9"}},
		{frameParts(5, "abc", at, 77, set), map[string]any{
			"t": "entry", "river": "5", "post": "abc", "version": "3.9.10", "place": 77.0,
			"parts": map[string]any{"body": text, "comments": text},
		}},
		{frameWhole(5, "abc", at, 77, html), map[string]any{
			"t": "entry", "river": "5", "post": "abc", "version": "3.9.10", "place": 77.0, "html": text,
		}},
	} {
		var got map[string]any
		if err := json.Unmarshal(tt.frame, &got); err != nil {
			t.Errorf("%s: %v", tt.frame, err)
			continue
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.frame, d)
		}
	}
}

// FuzzParseFrame: no message takes the parser down, and what it accepts keeps
// the bounds the rest of the hub counts on.
func FuzzParseFrame(f *testing.F) {
	for _, seed := range []string{
		`{"t":"subscribe","page":"/alice/likes?before=1.a","lang":"en","river":"12","entries":{"aB3":"12.14"}}`,
		`{"t":"drop","river":"12","entries":{"aB3":"1.1"}}`,
		`{"t":"subscribe","page":"/%00","entries":null}`,
		`{"t":"drop","entries":null}`,
		"{\"t\":\"subscribe\",\"page\":\"/\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		got, err := parseFrame(message)
		if err != nil {
			var bad *malformedError
			if !errors.As(err, &bad) {
				t.Fatalf("parseFrame(%q): %v, want a malformedError", message, err)
			}
			return
		}
		switch {
		case got.subscribe != nil:
			s := got.subscribe
			if s.river < 0 || len(s.entries) > maxEntries || s.path == "" || s.path[0] != '/' {
				t.Fatalf("parseFrame(%q) = %+v", message, *s)
			}
			for code, at := range s.entries {
				if back, ok := view.ParseVersion(at.String()); !validCode(code) || !ok || back != at {
					t.Fatalf("parseFrame(%q): entry %q at %+v", message, code, at)
				}
			}
		case got.drop != nil:
			if got.drop.river < 0 || len(got.drop.entries) > maxEntries {
				t.Fatalf("parseFrame(%q) = %+v", message, *got.drop)
			}
		default:
			t.Fatalf("parseFrame(%q) accepted nothing", message)
		}
	})
}
