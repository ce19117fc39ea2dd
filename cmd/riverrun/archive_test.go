package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// archive describes a FriendFeed archive that writeArchive makes. The same archive is always the
// same file.
type archive struct {
	users, groups, posts int
}

// ofScale is an archive of a large site (200,000 posts with about a million comments and two
// million likes of 2,000 people), or a part of one.
func ofScale(scale float64) archive {
	n := func(whole, least int) int { return max(least, int(float64(whole)*scale)) }
	return archive{users: n(2000, 200), groups: n(100, 10), posts: n(200_000, 1)}
}

// How many comments and likes posts have: few have very many.
var (
	commentsOfPost = tail{mean: 5.1, most: 4000}
	likesOfPost    = tail{mean: 10.8, most: 1500}
)

// tail is a distribution of numbers with a long tail (Pareto's, of exponent 1.4).
type tail struct{ mean, most float64 }

func (d tail) draw(rng *rand.Rand) int {
	const exponent = 1.4
	least := d.mean * (exponent - 1) / exponent
	return int(min(d.most, least*math.Pow(1-rng.Float64(), -1/exponent)) + rng.Float64()*0.9)
}

type archiveAccount struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Private bool   `json:"private,omitempty"`
}

type archiveTalk struct {
	ID   string         `json:"id,omitempty"`
	Body string         `json:"body,omitempty"`
	Date string         `json:"date"`
	From archiveAccount `json:"from"`
}

type archiveEntry struct {
	ID       string            `json:"_id"`
	Body     string            `json:"body"`
	URL      string            `json:"url"`
	Date     string            `json:"date"`
	From     archiveAccount    `json:"from"`
	To       []archiveAccount  `json:"to,omitempty"`
	Via      map[string]string `json:"via"`
	Comments []archiveTalk     `json:"comments,omitempty"`
	Likes    []archiveTalk     `json:"likes,omitempty"`
}

// writeArchive writes it, one entry after the other.
func writeArchive(to io.Writer, a archive) error {
	w := bufio.NewWriterSize(to, 1<<20)
	rng := rand.New(rand.NewPCG(2009, 5))
	words := newVocabulary(rng)
	account := func(kind string, n int) archiveAccount {
		return archiveAccount{ID: fmt.Sprintf("%s%d", kind, n), Name: fmt.Sprintf("The %s %d", kind, n), Type: kind, Private: n%10 == 7}
	}
	// Some people, and some groups, do much more than others.
	pick := func(of int) int { return int(float64(of) * math.Pow(rng.Float64(), 1.8)) }
	begin := time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range a.posts {
		author := pick(a.users)
		date := begin.Add(730 * 24 * time.Hour * time.Duration(i) / time.Duration(a.posts))
		e := archiveEntry{
			ID: fmt.Sprintf("e/%032x", i), From: account("user", author), Date: date.Format(time.RFC3339),
			Via: map[string]string{"name": "FriendFeed", "url": "http://friendfeed.com/"},
		}
		e.URL = "http://friendfeed.com/" + e.From.ID + "/" + e.ID[2:]
		e.Body = words.text(rng, author, 6+rng.IntN(24))
		if rng.IntN(5) < 2 {
			link := fmt.Sprintf("http://site%d.example/%d", rng.IntN(500), i)
			e.Body += fmt.Sprintf(` - <a rel="nofollow" href="%s" title="%s">%s...</a>`, link, link, link[:len(link)-2])
		}
		if rng.IntN(3) == 0 {
			e.To = append(e.To, account("group", pick(a.groups)))
		}
		for n := range commentsOfPost.draw(rng) {
			who := pick(a.users)
			e.Comments = append(e.Comments, archiveTalk{
				ID: fmt.Sprintf("%s/c/%032x", e.ID, n), From: account("user", who), Body: words.text(rng, author, 3+rng.IntN(30)),
				Date: date.Add(time.Duration(n+1) * time.Duration(1+rng.IntN(1800)) * time.Second).Format(time.RFC3339),
			})
		}
		liked := map[int]bool{}
		for range min(likesOfPost.draw(rng), a.users/2) {
			who := pick(a.users)
			for liked[who] {
				who = rng.IntN(a.users)
			}
			liked[who] = true
			e.Likes = append(e.Likes, archiveTalk{
				From: account("user", who), Date: date.Add(time.Duration(rng.IntN(200_000)) * time.Second).Format(time.RFC3339),
			})
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		before := ",\n"
		if i == 0 {
			before = "[\n"
		}
		if _, err := w.WriteString(before + string(text)); err != nil {
			return err
		}
	}
	if _, err := w.WriteString("\n]\n"); err != nil {
		return err
	}
	return w.Flush()
}

// vocabulary are words of two languages. Common ones make half of each text.
type vocabulary [2]struct{ common, rare []string }

func newVocabulary(rng *rand.Rand) *vocabulary {
	var v vocabulary
	v[0].common = strings.Fields(`the of and to in that is was for it with as on be at by this had not are but from or have an
		they which one you were all her she there would their we him been has when who will no more if out so what time about
		people think know really good just like new work look today great make some could see other than then now only its over`)
	v[1].common = strings.Fields(`и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой
		что весь год от так о для ты же все тот мочь вы человек такой его сказать только или ещё бы себя один как уже до время
		если сам когда другой вот говорить наш мой знать стать при чтобы дело жизнь кто первый очень два день её новый рука даже`)
	for i, syllables := range [2]string{
		"ba be bi co da de di fa fe go ha in ka la le li ma me mo na ne no or pa pe ra re ri sa se si ta te ti to un ve vi wo",
		"ба бе ви во га го да де до за зо и ка ко ла ле ли ма ме ми на не ни но о па по ра ре ри ро са се си та те ти то у",
	} {
		parts := strings.Fields(syllables)
		for range 20_000 {
			var word strings.Builder
			for range 2 + rng.IntN(3) {
				word.WriteString(parts[rng.IntN(len(parts))])
			}
			v[i].rare = append(v[i].rare, word.String())
		}
	}
	return &v
}

// text returns a number of words in the language of that author.
func (v *vocabulary) text(rng *rand.Rand, author, n int) string {
	words := v[0]
	if author%3 == 0 {
		words = v[1]
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		if rng.IntN(2) == 0 {
			b.WriteString(words.common[rng.IntN(len(words.common))])
			continue
		}
		if rng.IntN(60) == 0 {
			b.WriteByte('#')
		}
		// A few of the rare words are used often.
		b.WriteString(words.rare[int(float64(len(words.rare))*math.Pow(rng.Float64(), 3))])
	}
	return b.String()
}
