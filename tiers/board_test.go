package tiers_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"riverrun/rivers"
	"riverrun/timelines"
)

// board is what all actors and readers of a workload know: which posts there
// are to do something with, and which narrowings were acknowledged. Each
// narrowing is noted after its Carry returned, and what undoes it takes the note
// away before it begins. So a note that stood before a page was asked for and
// still stands after it was true all the while, and the page must heed it (R4).
type board struct {
	// mu guards everything below.
	mu    sync.Mutex
	cards []*card
	now   int64

	gone     map[int64]int64 // post -> when its deletion was acknowledged
	silenced map[int64]int64 // comment -> when
	unliked  map[pair]int64  // post, account -> when
	closed   map[int64]int64 // base timeline -> when it went private
	edited   map[int64]edit  // post -> its last edit acknowledged
	banned   map[pair]int64  // who, whom -> when
	hidden   map[pair]int64  // account, post -> when
	barred   map[pair]int64  // private base timeline, account -> when it was removed
	moved    map[int64]move  // post -> its last change of destinations acknowledged
	moving   map[int64]int   // post -> changes of destinations under way
}

// move is where a post stands for sure.
type move struct {
	decisive []int64
	when     int64
}

type edit struct {
	number int
	when   int64
}

// card is a post somebody made.
type card struct {
	id       int64
	code     string
	author   int64
	edits    int // begun; written by the author's actor only
	comments []commentCard
}

type commentCard struct{ id, author int64 }

func newBoard() *board {
	return &board{
		gone: map[int64]int64{}, silenced: map[int64]int64{}, unliked: map[pair]int64{},
		closed: map[int64]int64{}, edited: map[int64]edit{}, banned: map[pair]int64{}, hidden: map[pair]int64{},
		barred: map[pair]int64{}, moved: map[int64]move{}, moving: map[int64]int{},
	}
}

func (b *board) add(c *card) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cards = append(b.cards, c)
}

// pick returns a post that keep accepts, more often a young one; nil if none is
// met. keep is called with the board locked.
func (b *board) pick(rng *rand.Rand, keep func(*card) bool) *card {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range 20 {
		if len(b.cards) == 0 {
			return nil
		}
		from := 0
		if rng.IntN(3) > 0 {
			from = max(0, len(b.cards)-30)
		}
		if c := b.cards[from+rng.IntN(len(b.cards)-from)]; keep(c) {
			return c
		}
	}
	return nil
}

func anyCard(*card) bool { return true }

// note writes a narrowing down, after its acknowledgement.
func (b *board) note(write func(when int64)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now++
	write(b.now)
}

// since is the moment a page is asked for.
func (b *board) since() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// bodyOf is the text of a post at an edit: the number is at its end. Every edit
// has other tags, or none.
func bodyOf(author string, serial, edit int) string {
	return fmt.Sprintf("post %d of %s%s, edit %d", serial, author, tagged(serial+edit), edit)
}

// tags are all that workloads write.
var tags = []string{"river", "weir", "весна"}

// langs are the languages of aggregates and posts, unknown included.
var langs = []string{"", "en", "ru"}

// tagged are the tags of the n-th text, and whom it names.
func tagged(n int) string {
	return []string{"", " #river", " @ann", " #Weir #river", " #весна @bob @cat", ""}[n%6]
}

func editOf(body string) int {
	n, err := strconv.Atoi(body[strings.LastIndexByte(body, ' ')+1:])
	if err != nil {
		return 0
	}
	return n
}

// wholeKinds are the pages that show also what their viewer hides.
var wholeKinds = []rivers.Kind{rivers.Post, rivers.Directs, rivers.Faves}

// leaks says what these items show though its narrowing was acknowledged before
// they were asked for.
func (b *board) leaks(viewer timelines.Viewer, kind rivers.Kind, items []rivers.Item, since int64) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	leak := func(it rivers.Item, format string, args ...any) {
		out = append(out, fmt.Sprintf("post %d at %+v: ", it.PostID, it.Stamp)+fmt.Sprintf(format, args...))
	}
	stood := func(when int64, ok bool) bool { return ok && when <= since }
	me := viewer.AccountID
	apart := func(person int64) bool {
		mine, byMe := b.banned[pair{me, person}]
		theirs, byThem := b.banned[pair{person, me}]
		return stood(mine, byMe) || stood(theirs, byThem)
	}
	for _, it := range items {
		if when, ok := b.gone[it.PostID]; stood(when, ok) {
			leak(it, "deleted")
		}
		if e, ok := b.edited[it.PostID]; stood(e.when, ok) && editOf(it.Fold.Text.Body) < e.number {
			leak(it, "shows %q, but edit %d was acknowledged", it.Fold.Text.Body, e.number)
		}
		if apart(it.Fold.Text.Author) {
			leak(it, "is by %d, from whom a ban keeps %d", it.Fold.Text.Author, me)
		}
		if slices.ContainsFunc(it.Likes().IDs, apart) {
			leak(it, "counts a like by somebody from whom a ban keeps %d", me)
		}
		if when, ok := b.hidden[pair{me, it.PostID}]; stood(when, ok) && !slices.Contains(wholeKinds, kind) {
			leak(it, "is hidden by %d, and on a page of %s", me, kind)
		}
		for _, c := range it.Fold.Comments.Shown {
			if when, ok := b.silenced[c.ID]; stood(when, ok) {
				leak(it, "shows comment %d, deleted", c.ID)
			}
			if apart(c.Author) && !it.Hides(c.Author) {
				leak(it, "shows comment %d of %d, from whom a ban keeps %d", c.ID, c.Author, me)
			}
			if i := slices.IndexFunc(it.CommentLikes(&c).IDs, apart); i >= 0 {
				leak(it, "counts a like of comment %d by somebody from whom a ban keeps %d", c.ID, me)
			}
		}
		for _, id := range it.Fold.Likes.IDs {
			if when, ok := b.unliked[pair{it.PostID, id}]; stood(when, ok) {
				leak(it, "shows a like of %d, taken back", id)
			}
		}
		if m, ok := b.moved[it.PostID]; stood(m.when, ok) && !slices.Equal(it.Fold.Decisive, m.decisive) {
			leak(it, "stands in %v, but its move to %v was acknowledged", it.Fold.Decisive, m.decisive)
		}
		if !slices.ContainsFunc(it.Fold.Decisive, func(t int64) bool {
			when, ok := b.closed[t]
			if !viewer.Anonymous() {
				when, ok = b.barred[pair{t, viewer.AccountID}]
			}
			return !stood(when, ok)
		}) {
			leak(it, "stands only in %v, closed to account %d", it.Fold.Decisive, viewer.AccountID)
		}
	}
	return out
}
