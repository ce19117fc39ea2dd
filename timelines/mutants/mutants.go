// Package mutants lets a test break one step of the protocol, to show that some test
// notices. Each mutant is one wrong way to do one step; where the step is done, one
// short call asks whether the mutant runs.
//
// Nothing can start a mutant in the program itself: Start is called by tests alone
// (a test of cmd/mutants sees to it), and reads no setting. Without it a call of On
// costs one load from memory. Why not a build tag, which would cost nothing at all:
// TestEachStepIsNeeded runs a scene with and without its step in the ordinary test
// binary, and with a tag each package would be compiled twice, and what is tested would
// not be what is shipped. Why not a value in the context: half of the steps have none.
package mutants

import (
	"strings"
	"sync/atomic"
)

// Mutant is what a step does wrong, in words. `make mutants` knows it by them.
type Mutant string

// Mutants of the primary store.
const (
	StaleLoad      Mutant = "access cache: a load that was under way at a drop is stored"
	LateLabel      Mutant = "access cache: the label is read after the log"
	TrimmedLog     Mutant = "access cache: a gap in the log is passed over"
	NothingDropped Mutant = "access cache: what the log says is not dropped"
	StampWithLock  Mutant = "change: fresh_at is read in the statement that locks the post"
	LikedAgain     Mutant = "change: liking again enters with a new stamp"
)

// Mutants of writers in the secondary store.
const (
	BuildingUnseen   Mutant = "write: rivers being built are not looked up"
	ActorsBuilding   Mutant = "tier 0: rivers being built are not looked up"
	EntryVersions    Mutant = "write: an entry replaces a newer one"
	FoldVersions     Mutant = "write: a fold replaces a newer one"
	Tombstones       Mutant = "write: no tombstones"
	EntryDeadline    Mutant = "write: an entry replaces another after the deadline"
	FoldDeadline     Mutant = "write: a fold replaces another after the deadline"
	LateDeadline     Mutant = "write: the deadline counts from after the snapshot"
	LaterLikeLifts   Mutant = "entry: the place is that of the last like, not of the first"
	FoldBeforeReply  Mutant = "tier 0: the fold is left to a job"
	RiversOfActor    Mutant = "tier 0: the actor's rivers are left to jobs"
	ClockUnpublished Mutant = "tier 0: a narrowing is acknowledged before its clock"
	ClockGoesBack    Mutant = "tier 0: an older clock replaces a newer one"
	OpenRiversOnly   Mutant = "tier 2: closed rivers do not follow"
)

// Mutants of rivers as they are built, extended, replaced and read.
const (
	BuildTimelines  Mutant = "build: the timelines are not computed again in its snapshot"
	SwapEpoch       Mutant = "build: the swap ignores the epoch"
	SwapDeadline    Mutant = "build: the swap ignores the deadline"
	SwapRetired     Mutant = "build: a retired build is swapped in"
	ExtendTwice     Mutant = "extend: no second snapshot"
	ExtendTrimmed   Mutant = "extend: a trim meanwhile is ignored"
	FloorRises      Mutant = "extend: the floor may rise again"
	Joined          Mutant = "replace: an older build is joined"
	BelowFloor      Mutant = "page: what is below the floor is read"
	OtherEpoch      Mutant = "page: a river of another epoch serves"
	MissingFold     Mutant = "page: an entry without a fold is left out"
	TwoMoments      Mutant = "page: a decision made while access changed is shown"
	LateTombstones  Mutant = "expire: tombstones go while a late writer may live"
	LaggingUnopened Mutant = "subscribe: a river is not brought up when tier 2 lags"
)

// Mutants of open pages.
const (
	LeaseLast     Mutant = "subscribe: the lease is taken after the visit"
	RegisterLast  Mutant = "subscribe: the socket is registered after the visit"
	OldestWaits   Mutant = "push: of two updates that wait the older one is sent"
	StaleDecision Mutant = "push: what was decided long ago is sent"
	SyncUndone    Mutant = "push: an update decided before a visit is applied after it"
	Uncompared    Mutant = "push: what the bus lost is not looked for"
	ReconnectLost Mutant = "bus: nothing is said after a reconnect"
)

// on is the mutant that runs, nil for none.
var on atomic.Pointer[Mutant]

// On reports whether a test runs this mutant.
func On(m Mutant) bool {
	is := on.Load()
	return is != nil && *is == m
}

// SQL returns a statement with one of its parts as this mutant has it, if it runs.
func SQL(m Mutant, query, part, mutated string) string {
	if !On(m) {
		return query
	}
	if !strings.Contains(query, part) {
		panic(string(m) + ": the statement does not say " + part)
	}
	return strings.ReplaceAll(query, part, mutated)
}

// Start runs a mutant in this process until stop is called; "" is none. It is for tests.
func Start(m Mutant) (stop func()) {
	was := on.Swap(&m)
	return func() { on.Store(was) }
}
