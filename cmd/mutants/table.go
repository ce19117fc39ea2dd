package main

// A mutant does one step of the protocol wrong. Its edits say how, and the test that
// decides must fail with them.
type mutant struct {
	name    string // what is done wrong
	folder  string // of the test
	decides string // as for go test -run, without the anchors
	edits   []edit
}

// edit replaces a text, which must be in the file once.
type edit struct{ file, old, new string }

var mutants = []mutant{
	{
		"access cache: a load that was under way at a drop is stored",
		"timelines/access", "TestALoadUnderWayIsNotStored",
		[]edit{{"timelines/access/table.go", "t.cache.drops != began.drops", "false"}},
	},
	{
		"access cache: a load under way is shared",
		"timelines/access", "TestALoadUnderWayIsNotShared",
		[]edit{{"timelines/access/table.go", "if t.next == one {", "if false {"}},
	},
	{
		"access cache: the label is read after the log",
		"timelines/access", "TestTheLabelIsNoNewerThanWhatWasRead",
		[]edit{{"timelines/access/advance.go", "	c.mu.Lock()\n	defer c.mu.Unlock()\n	for _, r := range rows {", `
			if clock.N, err = c.store.AccessClock(ctx); err != nil {
				return err
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, r := range rows {`}},
	},
	{
		"access cache: a gap in the log is passed over",
		"timelines/access", "TestAdvanceOverATrimmedLog",
		[]edit{{"timelines/access/advance.go", "if !isComplete(", "if false && !isComplete("}},
	},
	{
		"access cache: what the log says is not dropped",
		"rivers", "TestNarrowingNeedsNoQueue",
		[]edit{{"timelines/access/advance.go", "for _, r := range rows {\n		c.drop(r)", "for _, r := range rows[:0] {\n		c.drop(r)"}},
	},
	{
		"change: fresh_at is read in the statement that locks the post",
		"timelines", "TestBumpIsLaterThanWhatItWaitedFor",
		[]edit{{"timelines/posts.go", "SET version = version + 1\n		WHERE code = @code AND deleted_at IS NULL`", `
			SET version = version + 1, fresh_at = (SELECT fresh_at FROM posts WHERE code = @code)
			WHERE code = @code AND deleted_at IS NULL` + "`"}},
	},
	{
		"change: entering a timeline again gets a new stamp",
		"timelines", "TestLike",
		[]edit{{"timelines/bump.go", "SET withdrawn = false,", "SET withdrawn = false, entered_at = excluded.entered_at,"}},
	},

	{
		"notices: a clock is not raised before what was told is taken back",
		"web", "TestNothingNarrowedIsTold",
		[]edit{{"tiers/tiers.go", "rivers.Scope{Actor: c.Actor, Notices: true}", "rivers.Scope{Actor: c.Actor}"}},
	},
	{
		"notices: what is remembered is used whatever the clock says",
		"web", "TestNothingNarrowedIsTold",
		[]edit{{"timelines/notices/cache.go", "l.Epoch == m.Epoch && l.N >= m.N", "l.Epoch == m.Epoch"}},
	},
	{
		"card: a copy of its picture is confirmed before access is decided",
		"web", "TestPictureOfACardIsItsReaders",
		[]edit{{"web/files.go", "	c, err := s.timelines.Links.Picture(r.Context(), r.viewer.AccountID, code)\n", `
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return nil
			}
			c, err := s.timelines.Links.Picture(r.Context(), r.viewer.AccountID, code)
			`}},
	},
	{
		"draft: a comment on a closed post tells of the post",
		"timelines/drafts", "TestDraftOfClosedPost",
		[]edit{{"timelines/drafts/drafts.go", "p.deleted_at IS NULL AND ` + rights.SeenPost + `", "p.deleted_at IS NULL AND (true OR ` + rights.SeenPost + `)"}},
	},
	{
		"history: a reader is shown former texts",
		"web", "TestHistoryIsTheAuthors",
		[]edit{
			{"timelines/edits/edits.go", "p.author_id = @viewer AND p.deleted_at", "p.deleted_at"},
			{"web/history.go", "code); err != nil {", "code); false && err != nil {"},
		},
	},
	{
		"reads: comments count as new that their reader may not see",
		"web", "TestUnreadComments",
		[]edit{{"web/view/unread.go", "c.By != viewer && !it.Hides(c.By)", "c.By != viewer"}},
	},
	{
		"notices: of a muted thread browsers are told",
		"web", "TestMute",
		[]edit{{"rivers/notices.go", "if d.sets.Muted.Has(p.ID) || !d.gates.OpensAny(d.sets, p.Decisive) {", "if !d.gates.OpensAny(d.sets, p.Decisive) {"}},
	},

	{
		"write: rivers being built are not looked up",
		"rivers", "TestBuildMeetsChange",
		unseen,
	},
	{
		"write: rivers being built are not looked up, in the scene of R1",
		"rivers", "TestEachStepIsNeeded/R1:",
		unseen,
	},
	{
		"write: an entry replaces a newer one",
		"rivers", "TestALateWriterLoses",
		entryVersions,
	},
	{
		"write: an entry replaces a newer one, in the scene of R2",
		"rivers", "TestEachStepIsNeeded/R2:_an_older_snapshot_never",
		entryVersions,
	},
	{
		"write: a fold replaces a newer one",
		"rivers", "TestALateFoldLoses",
		[]edit{{"rivers/fold.go", "excluded.version > folds.version AND", ""}},
	},
	{
		"write: no tombstones",
		"rivers", "TestATombstoneStandsBeforeItsEntry",
		tombstones,
	},
	{
		"write: no tombstones, in the scene of R2",
		"rivers", "TestEachStepIsNeeded/R2:_an_older_snapshot_does_not",
		tombstones,
	},
	{
		"write: an entry replaces another after the deadline",
		"rivers", "TestTheDeadlineHoldsBehindALock",
		[]edit{{"rivers/entry.go", "entries.version AND clock_timestamp() < @deadline", "entries.version"}},
	},
	{
		"write: a fold replaces another after the deadline",
		"rivers", "TestTheDeadlineHoldsBehindALock",
		[]edit{{"rivers/fold.go", "folds.version AND clock_timestamp() < @deadline", "folds.version"}},
	},
	{
		"write: the deadline counts from after the snapshot",
		"rivers", "TestTheDeadlineCountsFromTheLookUp",
		[]edit{{"rivers/writer.go", "	pause(ctx, afterSnapshot)\n	if err := s.intersect", "	pause(ctx, afterSnapshot)\n	w.asof, _ = s.now(ctx)\n	if err := s.intersect"}},
	},
	{
		"entry: the place is that of the last like, not of the first",
		"rivers", "TestAFriendsLikeLiftsOnce",
		[]edit{{"rivers/entry.go", "m.EnteredAt < first", "m.EnteredAt >= first"}},
	},

	{
		"build: the timelines are not computed again in its snapshot",
		"rivers", "TestABuildIsOfOneSnapshot",
		[]edit{{"rivers/chunk.go", "if !maps.Equal(setOf(ids), g.listed) {", "if false && !maps.Equal(setOf(ids), g.listed) {"}},
	},
	{
		"build: the swap ignores the epoch",
		"rivers", "TestALostEpochStopsABuild",
		[]edit{{"rivers/build.go", "AND state = 'building' AND epoch = (SELECT epoch FROM clock)\n				AND clock_timestamp()", "AND state = 'building'\n				AND clock_timestamp()"}},
	},
	{
		"build: the swap ignores the deadline",
		"rivers", "TestTheDeadlineHoldsToTheEnd",
		[]edit{{"rivers/build.go", "(SELECT epoch FROM clock)\n				AND clock_timestamp() < @deadline`", "(SELECT epoch FROM clock)\n				AND @deadline::timestamptz IS NOT NULL`"}},
	},
	{
		"build: a retired build is swapped in",
		"rivers", "TestABuildUnderWayIsOvertakenByAReplace",
		[]edit{{"rivers/build.go", "AND state = 'building' AND epoch = (SELECT epoch FROM clock)\n				AND clock_timestamp()", "AND epoch = (SELECT epoch FROM clock)\n				AND clock_timestamp()"}},
	},
	{
		"extend: no second snapshot",
		"rivers", "TestExtensionMeetsALikeFoundByItsActor",
		[]edit{{"rivers/content.go", "if err := s.storeChunk(ctx, c, asof); err != nil {\n		return err\n	}\n	moved,", "if err := s.storeChunk(ctx, c, asof); err != nil || true {\n		return err\n	}\n	moved,"}},
	},
	{
		"extend: the floor may rise again",
		"rivers", "TestExtensionsMeet",
		[]edit{{"rivers/extend.go", "least(floor, @floor)", "@floor"}},
	},
	{
		"extend: the river is not marked before the snapshot",
		"rivers", "TestOldPostsMeetAnExtension",
		[]edit{{"rivers/extend.go", "SET extended = true", "SET extended = extended"}},
	},
	{
		"build: a new generation forgets that pages are deep",
		"rivers", "TestARebuiltRiverCountsAsExtended",
		[]edit{{"rivers/build.go", `"extended": extended,`, `"extended": extended && false,`}},
	},
	{
		"write: old posts are left out of a river that is being built",
		"rivers", "TestOldPostsMeetABuild",
		[]edit{{"rivers/lookup.go", "WHEN r.state = 'live' AND NOT r.extended", "WHEN NOT r.extended"}},
	},
	{
		"write: posts that no river holds are kept from searches",
		"rivers", "TestASearchFindsTheOldPostsOfALoad",
		[]edit{{"rivers/writer.go", "&& !shown && !looked.searched", "&& !shown"}},
	},
	{
		"write: an order by creation is taken for the usual one",
		"rivers", "TestOldPostsInAnOrderByCreation",
		[]edit{{"rivers/writer.go", "if o == Created {", "if o == Created && st.Deleted {"}},
	},
	{
		"write: a post that was changed is left out",
		"rivers", "TestABatchOfOldAndNewPosts",
		[]edit{
			{"rivers/writer.go", "t.posts[id] == 0 && versions[id] == firstVersion", "t.posts[id] == 0"},
			{"rivers/writer.go", "st != nil && st.Version == firstVersion &&", "st != nil &&"},
		},
	},
	{
		"replace: an older build is joined",
		"rivers", "TestAReplaceJoinsNoOlderOne",
		[]edit{{"rivers/replace.go", "s.builds.Forget(buildKey(n, true))", ""}},
	},
	{
		"page: what is below the floor is read",
		"rivers", "TestEachStepIsNeeded/R5:_readers",
		[]edit{{"rivers/page.go", "AND fresh_at >= r.floor", ""}},
	},
	{
		"page: a river of another epoch serves",
		"rivers", "TestARiverOfAnotherEpochDoesNotServe",
		[]edit{{"rivers/page.go", "AND r.epoch = c.epoch", ""}},
	},
	{
		"page: an entry without a fold is left out",
		"rivers", "TestAMissingFoldIsMadeAgain",
		[]edit{{"rivers/fold.go", "if len(lost) == 0 {\n		return found, true, nil", "if len(lost) >= 0 {\n		return found, true, nil"}},
	},
	{
		"page: a decision made while access changed is shown",
		"rivers", "TestADecisionIsOfOneMoment",
		[]edit{{"rivers/consistent.go", "	label, now := s.access.Label()\n", "	label, now := s.access.Label()\n	if now >= 0 {\n		return true, nil\n	}\n"}},
	},
	{
		"expire: tombstones go while a late writer may live",
		"rivers", "TestExpire",
		[]edit{{"rivers/expire.go", "WHERE deleted AND buried_at < statement_timestamp() - @keep::interval", "WHERE deleted AND buried_at < statement_timestamp() - @keep::interval * 0"}},
	},

	{
		"tier 0: the actor's rivers are left to jobs",
		"tiers", "TestMyChangeIsInMyRivers",
		[]edit{{"tiers/tiers.go", "	if c.PostID != 0 {\n		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}\n		left, err", "	if false {\n		touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}\n		left, err"}},
	},
	{
		"write: rivers of one viewer that are being built are not looked up",
		"rivers", "TestMyChangeMeetsABuild",
		unseen[1:],
	},
	{
		"tier 0: the fold is left to a job",
		"rivers", "TestEachStepIsNeeded/R4:_what_was_deleted",
		[]edit{{"rivers/writer.go", "	inTime, err := s.write(ctx, entries, folds, w.asof)", "	if w.actor {\n		folds = nil\n	}\n	inTime, err := s.write(ctx, entries, folds, w.asof)"}},
	},
	{
		"write: the fold of a changed post is left to who looks at it",
		"rivers", "TestAFoldFromBeforeAChangeDoesNotStay",
		[]edit{{"rivers/writer.go", "stamp == 0 && version == firstVersion && !shown", "stamp == 0 && !shown"}},
	},
	{
		"tier 0: a narrowing is acknowledged before its clock",
		"tiers", "TestNothingNarrowedIsShown/an_account_gone_private",
		[]edit{{"tiers/tiers.go", "	if c.Clock != 0 {\n		if err := t.rivers.PublishClock", "	if false {\n		if err := t.rivers.PublishClock"}},
	},
	{
		"tier 0: an older clock replaces a newer one",
		"rivers", "TestTheClockNeverGoesBack",
		[]edit{{"rivers/history.go", "SET n = greatest(n, @n)", "SET n = @n"}},
	},
	{
		"history: marks are not compared",
		"rivers", "TestAnotherHistoryEmptiesTheStore",
		[]edit{{"rivers/history.go", " && c.mark == h.MarkAt", ""}},
	},
	{
		"history: a log of writes that is behind is accepted",
		"rivers", "TestAnotherHistoryEmptiesTheStore",
		[]edit{{"rivers/history.go", " && c.wal <= h.WAL", ""}},
	},
	{
		"history: folds stay when the store is emptied",
		"rivers", "TestAnotherHistoryEmptiesTheStore",
		[]edit{{"rivers/history.go", "`TRUNCATE rivers, folds, entries", "`TRUNCATE rivers, entries"}},
	},
	{
		"history: a late writer ignores the epoch",
		"rivers", "TestALateWriterWritesNothingIntoAnotherEpoch",
		[]edit{{"rivers/fold.go", "AND ` + inEpoch + `\n		ORDER BY post_id", "AND (true OR ` + inEpoch + `)\n		ORDER BY post_id"}},
	},
	{
		"history: a late writer ignores the epoch of its entries",
		"rivers", "TestALateWriterWritesNothingIntoAnotherEpoch",
		[]edit{{"rivers/entry.go", "AND ` + inEpoch + `\n		ORDER BY river_id", "AND (true OR ` + inEpoch + `)\n		ORDER BY river_id"}},
	},
	{
		"history: a build is registered in another epoch",
		"rivers", "TestABuildIsRegisteredInItsEpoch",
		[]edit{{"rivers/build.go", "FROM clock WHERE epoch = @epoch\n", "FROM clock WHERE epoch = @epoch OR true\n"}},
	},
	{
		"history: a request goes on in another epoch",
		"web", "TestAPageIsOfItsNamesEpoch",
		[]edit{{"web/request.go", "	r.Request = r.WithContext(s.rivers.AtEpoch(r.Context()))\n	if err", "	if err"}},
	},
	{
		"history: an open page goes on in the epoch of its socket",
		"web/live", "TestAPageIsOpenedAgainInAnotherEpoch/before",
		[]edit{{"web/live/page.go", "v.workIn(rivers.WithEpoch(ctx, v.epoch), n)", "v.workIn(ctx, n)"}},
	},
	{
		"history: a page is opened in another epoch than that of its names",
		"web/live", "TestAPageIsOpenedAgainInAnotherEpoch/while",
		[]edit{{"web/live/page.go", "	ctx = rivers.WithEpoch(ctx, epoch)\n", ""}},
	},
	{
		"history: the clock stays until the tables are empty",
		"rivers", "TestTheClockGoesFirst",
		[]edit{{"rivers/history.go", "DELETE FROM clock WHERE epoch = @epoch", "DELETE FROM clock WHERE epoch = @epoch AND false"}},
	},
	{
		"page: folds that were read later do not count as newer",
		"rivers", "TestAPageIsOfOneEpoch",
		[]edit{{"rivers/decide.go", "slices.Contains(read[:], true), nil", "slices.Contains(read[:0], true), nil"}},
	},
	{
		"history: folds in memory serve in another epoch",
		"rivers", "TestMemoryGoesWithTheEpoch",
		[]edit{
			{"rivers/foldcache.go", "Get(foldKey{epoch, post})", "Get(foldKey{0, post})"},
			{"rivers/foldcache.go", "foldKey{f.Epoch, f.PostID}", "foldKey{0, f.PostID}"},
		},
	},
	{
		"tier 2: closed rivers do not follow",
		"tiers", "TestTiersDivideTheRivers",
		[]edit{{"tiers/tiers.go", "t.rivers.Distribute(ctx, touched, rivers.All)", "t.rivers.Distribute(ctx, touched, rivers.Scope{Open: true})"}},
	},
	{
		"bus: nothing is said after a reconnect",
		"tiers", "TestBusReconnects",
		[]edit{{"tiers/bus.go", "		b.deliver(Message{All: true})\n	}\n}", "	}\n}"}},
	},

	{
		"subscribe: the lease is taken after the visit",
		"web/live", "TestLeasedBeforeTheVisit",
		[]edit{
			{"web/live/page.go", "	if err := v.lease(ctx, river); err != nil {\n		return err\n	}\n	v.shard,", "	v.shard,"},
			{"web/live/page.go", visited, visited + "\n			if err := v.lease(ctx, river); err != nil {\n				return nil, err\n			}"},
		},
	},
	{
		"subscribe: the socket is registered after the visit",
		"web/live", "TestNothingFallsBetweenPageAndSocket",
		[]edit{
			{"web/live/page.go", "	v.shard.join(w, v.socket)\n", ""},
			{"web/live/page.go", visited, visited + "\n			v.shard.join(v.watch, v.socket)"},
		},
	},
	{
		"subscribe: a river is not brought up when tier 2 lags",
		"web/live", "TestOpenedWhileRiversLag",
		[]edit{{"web/live/page.go", "if backlog {", "if false && backlog {"}},
	},
	{
		"push: of two updates that wait the older one is sent",
		"web/live", "TestTheNewestUpdateWaits",
		[]edit{{"web/live/socket.go", "s.inbox.pending[u.post] = u", "if s.inbox.pending[u.post] == nil {\n			s.inbox.pending[u.post] = u\n		}"}},
	},
	{
		"push: what was decided long ago is sent",
		"web/live", "TestStaleDecisionsAreMadeAgain",
		[]edit{{"web/live/socket.go", "return h.cfg.Now().Sub(began) > h.cfg.StaleAfter", "return false"}},
	},
	{
		"push: an update decided before a visit is applied after it",
		"web/live", "TestOldUpdateDoesNotUndoASync",
		[]edit{{"web/live/page.go", "if v.stale(u.batch) || overtaken {", "if v.stale(u.batch) || false && overtaken {"}},
	},
	{
		"push: what the bus lost is not looked for",
		"web/live", "TestLostMessagesAreHealed",
		[]edit{{"web/live/compare.go", "	differed, err := v.follow(ctx, f)\n", "	if v != nil {\n		return nil\n	}\n	differed, err := v.follow(ctx, f)\n"}},
	},
}

// Edits of several mutants.
var (
	unseen = []edit{
		{"rivers/lookup.go", "WHERE r.state = 'live' OR r.state = 'building')\n		SELECT now()", "WHERE r.state = 'live')\n		SELECT now()"},
		{"rivers/lookup.go", "WHERE (r.state = 'live' OR r.state = 'building') AND (t.user_id", "WHERE r.state = 'live' AND (t.user_id"},
	}
	entryVersions = []edit{{"rivers/entry.go", "excluded.version > entries.version AND", ""}}
	tombstones    = []edit{{"rivers/entry.go", "	if err := foldArgs(", "	entries = slices.DeleteFunc(entries, func(e entry) bool { return e.Deleted })\n	if err := foldArgs("}}
)

// visited is what follows the visit that a page begins with.
const visited = "		if page.River == river && (!page.Beyond || v.socket.beyond.Load()) {"
