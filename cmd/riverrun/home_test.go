package main

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/migrations/testdb"
	"riverrun/rivers/strategies"
)

var (
	homeEntry = regexp.MustCompile(`data-post="(\w+)" data-version="[^"]+"\s+data-place="(\d+)"`)
	homeOlder = regexp.MustCompile(`<a class="older" rel="next" href="([^"]+)"`)
)

// homeOf returns the entries of somebody's home feed with their places, to its end.
func homeOf(v *visitor) (entries []string) {
	v.t.Helper()
	for path := "/"; path != ""; {
		body := v.page(path)
		for _, m := range homeEntry.FindAllStringSubmatch(body, -1) {
			entries = append(entries, m[1]+" at "+m[2])
		}
		path = ""
		if m := homeOlder.FindStringSubmatch(body); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	return entries
}

// A site serves the same home feeds whatever makes them, and switching to another way and back
// loses nothing of what happened meanwhile.
func TestDemoHomesOfEachStrategy(t *testing.T) {
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_LOG_LEVEL": "warn"}
	if out, err := once(t, vars, "", "demo", "-password", "correct horse"); err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	serve := func(strategy string, do func(sam, gus *visitor)) {
		t.Helper()
		vars["RIVERRUN_HOME"] = strategy
		p := background(t, vars)
		node := &child{url: strings.TrimPrefix(p.said, "riverrun serves ")}
		do(signIn(t, node, "sam"), signIn(t, node, "gus"))
		p.end(t)
	}
	first, rivers := map[string][]string{}, map[string][]string{}
	serve("rivers", func(sam, gus *visitor) { first["sam"], first["gus"] = homeOf(sam), homeOf(gus) })
	if len(first["sam"]) < 30 {
		t.Fatalf("the demo has only %d entries for sam", len(first["sam"]))
	}
	for _, name := range strategies.Names()[1:] {
		serve(name, func(sam, gus *visitor) {
			for person, v := range map[string]*visitor{"sam": sam, "gus": gus} {
				if diff := cmp.Diff(first[person], homeOf(v)); diff != "" {
					t.Errorf("%s, for %s (-rivers):\n%s", name, person, diff)
				}
			}
		})
	}
	serve("timed", func(sam, gus *visitor) { homeOf(sam); homeOf(gus) })
	serve("rivers", func(sam, gus *visitor) {
		gus.form("/posts", url.Values{"body": {"While another way was in force"}})
		rivers["gus"] = homeOf(gus)
	})
	serve("timed", func(sam, gus *visitor) {
		if diff := cmp.Diff(rivers["gus"], homeOf(gus)); diff != "" {
			t.Errorf("timed, after rivers (-rivers):\n%s", diff)
		}
		if !strings.Contains(sam.page("/"), "While another way was in force") {
			t.Error("timed, after rivers: sam lacks what gus posted meanwhile")
		}
	})
}

// convert stores the feeds of all people while the servers have the strategy, goes on after an
// interruption, and check finds what is wrong with them.
func TestHomeConvert(t *testing.T) {
	db := testdb.New(t)
	vars := map[string]string{"DATABASE_URL": db.PrimaryURL, "RIVERS_DATABASE_URL": db.SecondaryURL, "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_LOG_LEVEL": "warn"}
	if out, err := once(t, vars, "", "demo", "-password", "correct horse"); err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	vars["RIVERRUN_HOME"] = "sized"
	for _, tc := range []struct{ args, want string }{
		{"home convert read", "read stores no whole home feeds: there is nothing to do\n"},
		{"home convert cache", "cache stores no whole home feeds: there is nothing to do\n"},
		{"home convert rivers", "rivers stores no whole home feeds: there is nothing to do\n"},
	} {
		out, err := once(t, vars, "", strings.Fields(tc.args)...)
		must(t, tc.want, out, err)
	}
	for args, want := range map[string]string{
		"home":               "home: want convert",
		"home convert magic": "want one of rivers, read, timed, sized, cache",
		"home convert":       "start them with RIVERRUN_HOME=sized first",
		"home convert timed": "start them with RIVERRUN_HOME=timed first",
	} {
		if _, err := once(t, vars, "", strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
	background(t, vars).end(t)
	feeds := func() (live int) {
		const query = `SELECT count(*) FROM home_feeds WHERE state = 'live' AND strategy = 'sized'`
		if err := db.Secondary.QueryRow(t.Context(), query).Scan(&live); err != nil {
			t.Fatal(err)
		}
		return live
	}
	const whole = "sized: 12 people have a home feed\n"
	out, err := once(t, vars, "", "home", "convert")
	must(t, whole, out, err)
	if live := feeds(); live != 12 {
		t.Errorf("after convert: %d live feeds, want 12", live)
	}
	// As if it had been cut off before the last five.
	const cut = `
		UPDATE home_feeds SET state = 'retired', retired_at = now()
		WHERE id IN (SELECT id FROM home_feeds WHERE state = 'live' ORDER BY viewer_id DESC LIMIT 5)`
	if _, err := db.Secondary.Exec(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	const kept = `SELECT string_agg(id::text, ' ' ORDER BY viewer_id) FROM (SELECT id, viewer_id FROM home_feeds WHERE state = 'live' ORDER BY viewer_id LIMIT 7) f`
	var before, after string
	if err := db.Secondary.QueryRow(t.Context(), kept).Scan(&before); err != nil {
		t.Fatal(err)
	}
	out, err = once(t, vars, "", "home", "convert", "sized")
	must(t, whole, out, err)
	if err := db.Secondary.QueryRow(t.Context(), kept).Scan(&after); err != nil || after != before {
		t.Errorf("convert, again: the feeds that stood are %s (%v), want %s", after, err, before)
	}
	if live := feeds(); live != 12 {
		t.Errorf("after convert, again: %d live feeds, want 12", live)
	}

	out, err = once(t, vars, "", "check")
	if err != nil || !regexp.MustCompile(`(?m)^home feeds 12 entries [1-9]\d+ differences 0$`).MatchString(out) {
		t.Errorf("check: got %q (%v), want no differences in 12 home feeds", out, err)
	}
	const plant = `
		UPDATE home_feed_buckets SET places[1] = places[1] + 1, posts[2] = -7
		WHERE feed_id = (SELECT min(id) FROM home_feeds WHERE state = 'live') AND cardinality(posts) > 2`
	if _, err := db.Secondary.Exec(t.Context(), plant); err != nil {
		t.Fatal(err)
	}
	out, err = once(t, vars, "", "check")
	if err == nil || err.Error() != "check: 3 differences" {
		t.Errorf("check with planted differences: got %v, want three", err)
	}
	for _, want := range []string{"should stand at", "missing, should stand at", "post -7: stands at", "differences 3\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("check with planted differences: got %q, want %q", out, want)
		}
	}
	vars["RIVERRUN_HOME"] = "rivers"
	if out, err := once(t, vars, "", "check"); err != nil || strings.Contains(out, "home feeds") {
		t.Errorf("check of rivers: got %q (%v)", out, err)
	}
}
