package formats

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The hash of an item without files is the one of the first release that had sources: another hash
// would write the posts of all sources anew.
func TestHashesStay(t *testing.T) {
	all := sha256.New()
	count := 0
	for _, name := range slices.Sorted(maps.Keys(goodFeeds)) {
		items, _, err := readFeed(goodFeeds[name].text, goodFeeds[name].options)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			if len(i.Files) == 0 {
				hash := i.Hash()
				fmt.Fprintf(all, "%s %x\n", name, hash)
				count++
			}
		}
	}
	const want = "5023d18cdd6ece31fa84c14ec71f71eac7af1ae6cb3b7fd0e89d27a74223c5d9 of 32"
	if got := fmt.Sprintf("%s of %d", hex.EncodeToString(all.Sum(nil)), count); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Each enclosure is one file, with all that the feed says about it. If a group or an element offers
// several forms of one file, one form is taken.
func TestEnclosures(t *testing.T) {
	const media = `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>T</title><item><guid>1</guid><title>a</title>%s</item></channel></rss>`
	html := func(s string) string { return fmt.Sprintf(media, "<description><![CDATA["+s+"]]></description>") }
	for _, tt := range []struct {
		name, text string
		files      []File
		shown      string
		pictures   int
	}{
		{
			"podcast", fmt.Sprintf(media, `<enclosure url="https://a.example/1.mp3" type="audio/mpeg" length="38000000"/><itunes:duration>42:10</itunes:duration>`),
			[]File{{URL: "https://a.example/1.mp3", Type: "audio/mpeg", Bytes: 38_000_000, Seconds: 2530}},
			"", 0,
		},
		{
			"the same named twice", fmt.Sprintf(media, `<enclosure url="https://a.example/1.mp3"/><media:content url="https://a.example/1.mp3" type="audio/mpeg" fileSize="9000000" duration="61.5"/>`),
			[]File{{URL: "https://a.example/1.mp3", Type: "audio/mpeg", Bytes: 9_000_000, Seconds: 61}},
			"", 0,
		},
		{
			"a group", fmt.Sprintf(media, `<media:group><media:content url="https://a.example/low.mp4" type="video/mp4"/><media:content url="https://a.example/best.mp4" medium="video" isDefault="true" duration="90"/><media:content url="https://a.example/1.jpg" medium="image"/></media:group><itunes:duration>5</itunes:duration>`),
			[]File{{URL: "https://a.example/best.mp4", Type: "video", Seconds: 90}},
			"", 1,
		},
		{
			"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><link rel="enclosure" href="https://a.example/1.pdf" type="application/pdf" length="2000" title="Minutes"/></entry></feed>`,
			[]File{{URL: "https://a.example/1.pdf", Type: "application/pdf", Bytes: 2000, Title: "Minutes"}},
			"", 0,
		},
		{
			"JSON Feed", `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","attachments":[{"url":"https://a.example/1.m4a","mime_type":"audio/x-m4a","duration_in_seconds":3600,"size_in_bytes":5}]}]}`,
			[]File{{URL: "https://a.example/1.m4a", Type: "audio/x-m4a", Bytes: 5, Seconds: 3600}},
			"", 0,
		},
		{
			"a film and its length", fmt.Sprintf(media, `<enclosure url="https://a.example/1.mp4" type="video/mp4" length=" 7 "/><itunes:duration>5:00</itunes:duration>`),
			[]File{{URL: "https://a.example/1.mp4", Type: "video/mp4", Bytes: 7, Seconds: 300}},
			"", 0,
		},
		{
			"the same with another type, and a length that is none", fmt.Sprintf(media, `<enclosure url="https://a.example/1.mp3" type="audio/mpeg" length="-1"/><media:content url="https://a.example/1.mp3" type="audio/mp3"/>`),
			[]File{{URL: "https://a.example/1.mp3", Type: "audio/mpeg"}},
			"", 0,
		},
		{"pictures", fmt.Sprintf(media, `<enclosure url="https://a.example/1" type=" IMAGE/PNG"/><enclosure url="https://a.example/2.JPG?w=9"/>`), nil, "", 2},
		{
			"a group that begins with Flash", fmt.Sprintf(media, `<media:group><media:content url="https://a.example/1.swf" type="application/x-shockwave-flash"/><media:content url="https://a.example/1.mp4" type="video/mp4"/></media:group>`),
			[]File{{URL: "https://a.example/1.mp4", Type: "video/mp4"}},
			"", 0,
		},
		{"CSV", "id,title,files\n1,a,https://a.example/1.mp3|https://a.example/2.zip\n", []File{{URL: "https://a.example/1.mp3"}, {URL: "https://a.example/2.zip"}}, "", 0},
		{
			"WordPress's player beside the enclosure", fmt.Sprintf(media, `<enclosure url="https://a.example/1.mp3" type="audio/mpeg"/><description><![CDATA[x<audio controls><source type="audio/mpeg" src="https://a.example/1.mp3?_=1" /><a href="https://a.example/1.mp3">https://a.example/1.mp3</a></audio>y]]></description>`),
			[]File{{URL: "https://a.example/1.mp3", Type: "audio/mpeg"}},
			"x\ny", 0,
		},
		{
			"video in two forms, and another", html(`<video><source src="https://a.example/1.webm" type='video/webm; codecs="vp9"'><source src="https://a.example/1.mp4">No video.</video><video src="https://a.example/2.mp4"></video>`),
			[]File{{URL: "https://a.example/1.webm", Type: "video/webm"}, {URL: "https://a.example/2.mp4", Type: "video"}},
			"", 0,
		},
		{"video never closed", html(`a<video src="https://a.example/2.mp4">b`), []File{{URL: "https://a.example/2.mp4", Type: "video"}}, "a\nb", 0},
		{"player", html(`a<iframe src="https://v.example/embed/1">x</iframe>b`), []File{{URL: "https://v.example/embed/1", Type: Player}}, "a\n\nb", 0},
		{"hidden frames", html(`a<iframe src="https://v.example/1" width="1" height="1"></iframe><noscript><iframe src="https://v.example/2"></iframe></noscript>`), nil, "a", 0},
		{
			"object", html(`<object width="400"><param name="movie" value="https://v.example/v/1"><embed src="https://v.example/v/1?x" type="application/x-shockwave-flash">x</object><embed src="https://v.example/e">`),
			[]File{{URL: "https://v.example/v/1", Type: Player}, {URL: "https://v.example/e", Type: Player}},
			"", 0,
		},
		{"Flash", html(`<embed src="https://v.example/e" type="application/x-shockwave-flash">`), []File{{URL: "https://v.example/e", Type: Player}}, "", 0},
		{"object with another name", html(`<object><param name="src" value="https://v.example/v/1"></object>`), []File{{URL: "https://v.example/v/1", Type: Player}}, "", 0},
		{"frames hidden in other ways", html(`a<iframe src="https://v.example/1" height="1"></iframe><iframe src="https://v.example/2" style="display: none"></iframe>`), nil, "a", 0},
		{"an address that only looks like WordPress's", html(`<audio src="https://a.example/1.mp3?_=key"></audio>`), []File{{URL: "https://a.example/1.mp3?_=key", Type: "audio"}}, "", 0},
		{"document", html(`<object data="https://a.example/1.pdf" type="application/pdf"></object>`), []File{{URL: "https://a.example/1.pdf", Type: "application/pdf"}}, "", 0},
		{"addresses of other kinds", html(`<iframe src="javascript:alert(1)"></iframe><embed src="data:text/html,x"><audio src="file:///etc/passwd"></audio>`), nil, "", 0},
	} {
		items, _, err := readFeed(tt.text, Options{})
		if err != nil || len(items) != 1 {
			t.Errorf("%s: %d items, %v", tt.name, len(items), err)
			continue
		}
		if diff := cmp.Diff(tt.files, items[0].Files); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", tt.name, diff)
		}
		if items[0].Text != tt.shown || len(items[0].Pictures) != tt.pictures {
			t.Errorf("%s: text %q and %d pictures, want %q and %d", tt.name, items[0].Text, len(items[0].Pictures), tt.shown, tt.pictures)
		}
	}
}

func TestSecondsOf(t *testing.T) {
	for in, want := range map[string]int64{
		"42": 42, " 10:00 ": 600, "1:02:03": 3723, "61.9": 61, "00:00": 0, "": 0, "1:2:3:4": 0, "-5": 0, "1e3": 0, "ten": 0, ":5": 0, "9999999": 0, "...": 0,
	} {
		if got := secondsOf(in); got != want {
			t.Errorf("secondsOf(%q) is %d, want %d", in, got, want)
		}
	}
}

// An item that shows nothing is reported.
func TestNothingToShow(t *testing.T) {
	for _, in := range []string{
		"<item><guid>1</guid><title>\u200b</title></item>",
		"<item><guid>1</guid><description>&lt;p>&amp;#8203;&lt;/p></description></item>",
		"<item><guid>1</guid><category>c</category></item>",
		"<item><guid>1</guid><description>&lt;iframe src='x:'>&lt;/iframe></description></item>",
	} {
		r, err := NewReader(strings.NewReader(rss(in)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		i, err := r.Next()
		if err != nil || !i.Bad || !i.Has(TitleAndTextMissing) {
			t.Errorf("%s: %+v, %v", in, i, err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Error(err)
		}
	}
}
