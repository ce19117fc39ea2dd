package jobs

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	riverqueue "github.com/riverqueue/river"

	"riverrun/rivers"
	"riverrun/timelines"
)

// Queues. Each has workers of its own, so that none waits for another: a rebuild may
// take as long as a thousand distributes.
const (
	queueNow     = "now"
	queueRebuild = "rebuild"
	queueLater   = "later"
	queueChores  = "chores"
	// queuePictures has one worker, which takes up to 380 MB for one picture.
	queuePictures = "pictures"
	// queueBatches brings what imports and sources write to open rivers, one batch after the
	// other, so that what people do does not wait for it.
	queueBatches = "batches"
	// queuePush sends to other sites, and queueFetch reads from them.
	queuePush  = "push"
	queueFetch = "fetch"
	// queueSources loads what sources brought, and queueFeeds fetches them by their links.
	queueSources = "sources"
	queueFeeds   = "feeds"
	// queuePhotos fetches the pictures of their items, and makes them when no upload waits.
	queuePhotos = "photos"
	// queueHomes writes stored home feeds. A change may have very many readers.
	queueHomes = "homes"
	// queueExports makes archives. One may take an hour.
	queueExports = "exports"
)

var queues = []string{queueNow, queueBatches, queueRebuild, queueLater, queueChores, queuePictures, queueFetch, queuePush, queueSources, queueFeeds, queuePhotos, queueHomes, queueExports}

// Priorities within the queue now; 1 is fetched first. Nobody waits for a block of a
// bump in particular, and upkeep only makes pages quicker.
const (
	priorityDistribute = 1
	priorityReplace    = 2
	priorityBump       = 3
	priorityUpkeep     = 4
)

// picturePriority is that within the queue pictures: the more pictures of its owner wait already, the
// later it comes, so that one person's do not hold up those of all others.
func picturePriority(waiting int) int { return min(1+waiting/5, 4) }

// unlimited is the number of attempts of a job that must succeed in the end: the
// largest the column can hold. Failures do not use up attempts (see retry); only
// crashes of a whole process in the middle of the job do.
const unlimited = math.MaxInt16

// distributeArgs names the post that changed and the timelines whose rivers follow.
type distributeArgs struct {
	PostID    int64 `json:"post_id"`
	Timelines ids   `json:"timelines"`
	// At is when the change was announced, in microseconds.
	At int64 `json:"at"`
	// Change is its name (timelines.Change), 0 if it has none.
	Change uint64 `json:"change,omitempty"`
	// Unpushed is that of the event.
	Unpushed bool `json:"unpushed,omitempty"`
}

func (distributeArgs) Kind() string { return "distribute" }

func (distributeArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueNow, Priority: priorityDistribute, MaxAttempts: unlimited}
}

// batchArgs is a timelines.TouchedBatch, or a part of one.
type batchArgs struct {
	Touched touchedPosts `json:"touched"`
	// At is when the batch was announced, in microseconds.
	At int64 `json:"at"`
}

func (batchArgs) Kind() string { return "distribute_batch" }

func (batchArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueBatches, Priority: priorityDistribute, MaxAttempts: unlimited}
}

// replaceArgs is a timelines.Replace.
type replaceArgs struct {
	ViewerID  int64    `json:"viewer_id,omitempty"`
	Everybody bool     `json:"everybody,omitempty"`
	AccountID int64    `json:"account_id,omitempty"`
	Kinds     []string `json:"kinds,omitempty"`
	Terms     []string `json:"terms,omitempty"`
	TheirIDs  ids      `json:"their_ids,omitempty"`
	Tx        int64    `json:"tx,omitempty"`
}

func replaceArgsOf(r timelines.Replace) replaceArgs {
	return replaceArgs{
		ViewerID: r.ViewerID, Everybody: r.Everybody, AccountID: r.AccountID,
		Kinds: r.Kinds, Terms: r.Terms, TheirIDs: r.TheirIDs, Tx: r.Tx,
	}
}

func (a replaceArgs) replace() timelines.Replace {
	return timelines.Replace{
		ViewerID: a.ViewerID, Everybody: a.Everybody, AccountID: a.AccountID,
		Kinds: a.Kinds, Terms: a.Terms, TheirIDs: a.TheirIDs, Tx: a.Tx,
	}
}

func (replaceArgs) Kind() string { return "replace" }

func (replaceArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueNow, Priority: priorityReplace, MaxAttempts: unlimited}
}

// rebuildArgs is a rivers.Stale: an open river that a replace found, to be rebuilt.
type rebuildArgs struct {
	UserID  int64        `json:"user_id,omitempty"`
	River   rivers.Kind  `json:"river"`
	TheirID int64        `json:"their_id,omitempty"`
	Term    string       `json:"term,omitempty"`
	Order   rivers.Order `json:"order"`
	Tx      int64        `json:"tx"`
}

func rebuildArgsOf(r rivers.Stale) rebuildArgs {
	n := r.Name
	return rebuildArgs{
		UserID: n.UserID, River: n.Kind, TheirID: n.TheirID, Term: n.Term, Order: n.Order, Tx: r.Tx,
	}
}

func (a rebuildArgs) stale() rivers.Stale {
	return rivers.Stale{
		Name: rivers.Name{UserID: a.UserID, Kind: a.River, TheirID: a.TheirID, Term: a.Term, Order: a.Order},
		Tx:   a.Tx,
	}
}

func (rebuildArgs) Kind() string { return "rebuild" }

func (rebuildArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueRebuild, MaxAttempts: unlimited}
}

// homesArgs is a change that stored home feeds must follow, of posts or of what viewers read, and
// how far it has come.
type homesArgs struct {
	Touched  touchedPosts `json:"touched,omitempty"`
	Replace  *replaceArgs `json:"replace,omitempty"`
	Account  int64        `json:"account,omitempty"`
	Follower int64        `json:"follower,omitempty"`
}

func (a homesArgs) event() timelines.Event {
	if a.Replace != nil {
		return a.Replace.replace()
	}
	return timelines.TouchedBatch(a.Touched)
}

func (homesArgs) Kind() string { return "homes" }

func (homesArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueHomes, MaxAttempts: unlimited}
}

// bumpArgs is a timelines.PendingBump.
type bumpArgs struct {
	PostID int64 `json:"post_id"`
	After  int64 `json:"after"`
}

func (bumpArgs) Kind() string { return "bump" }

func (bumpArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueNow, Priority: priorityBump, MaxAttempts: unlimited}
}

// upkeepArgs is a timelines.Upkeep. It is empty: the primary store knows the work.
type upkeepArgs struct{}

func (upkeepArgs) Kind() string { return "upkeep" }

func (upkeepArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueNow, Priority: priorityUpkeep, MaxAttempts: unlimited}
}

// removalArgs is a timelines.RemovePosts. The primary store knows the work.
type removalArgs struct {
	AccountID int64 `json:"account_id"`
}

func (removalArgs) Kind() string { return "removal" }

func (removalArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueBatches, Priority: priorityUpkeep, MaxAttempts: unlimited}
}

// leaveArgs is a timelines.Leave. The primary store knows the work.
type leaveArgs struct {
	AccountID int64 `json:"account_id"`
}

func (leaveArgs) Kind() string { return "leave" }

func (leaveArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueBatches, Priority: priorityUpkeep, MaxAttempts: unlimited}
}

// followArgs is empty: the table behind holds the work.
type followArgs struct{}

func (followArgs) Kind() string { return "follow" }

func (followArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueLater, MaxAttempts: unlimited}
}

// expireArgs and housekeepArgs belong to periodic jobs. One that fails is not tried
// again; the next one does its work.
type expireArgs struct{}

func (expireArgs) Kind() string { return "expire" }

func (expireArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueChores, MaxAttempts: 1}
}

// lapseArgs belongs to a periodic job, like expireArgs.
type lapseArgs struct{}

func (lapseArgs) Kind() string { return "lapse" }

func (lapseArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueChores, MaxAttempts: 1}
}

type housekeepArgs struct{}

func (housekeepArgs) Kind() string { return "housekeep" }

func (housekeepArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueChores, MaxAttempts: 1}
}

// ids is a list of keys, written into a job's arguments as one string: "3,14,15". The
// queue keeps a GIN index over all arguments. An array of the timelines of a much-liked
// post would add an entry for each to that index, in the transaction that holds the
// post's lock; a string adds one.
type ids []int64

// MarshalJSON implements json.Marshaler.
func (v ids) MarshalJSON() ([]byte, error) {
	return append(v.append([]byte{'"'}), '"'), nil
}

func (v ids) append(text []byte) []byte {
	for i, id := range v {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, id, 10)
	}
	return text
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ids) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("list of ids: %w", err)
	}
	return v.parse(text)
}

func (v *ids) parse(text string) error {
	*v = nil
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return fmt.Errorf("list of ids: %w", err)
		}
		*v = append(*v, id)
	}
	return nil
}

// touchedPosts are posts with their touched timelines, as one string for the reason given at
// ids: "3:14,15;92:65".
type touchedPosts []timelines.Touched

// MarshalJSON implements json.Marshaler.
func (v touchedPosts) MarshalJSON() ([]byte, error) {
	text := []byte{'"'}
	for i, t := range v {
		if i > 0 {
			text = append(text, ';')
		}
		text = append(strconv.AppendInt(text, t.PostID, 10), ':')
		text = ids(t.Timelines).append(text)
	}
	return append(text, '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *touchedPosts) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("touched posts: %w", err)
	}
	*v = nil
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ";") {
		post, of, ok := strings.Cut(part, ":")
		id, err := strconv.ParseInt(post, 10, 64)
		if err != nil || !ok {
			return fmt.Errorf("touched posts: %q is not a post and its timelines", part)
		}
		t := timelines.Touched{PostID: id}
		if err := (*ids)(&t.Timelines).parse(of); err != nil {
			return fmt.Errorf("touched posts: %w", err)
		}
		*v = append(*v, t)
	}
	return nil
}
