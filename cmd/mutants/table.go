package main

import "riverrun/timelines/mutants"

// A trial is a mutant and the test that is to notice it.
type trial struct {
	mutant  mutants.Mutant
	folder  string
	decides string // as for go test -run, without the anchors
}

var trials = []trial{
	{mutants.StaleLoad, "timelines/access", "TestALoadUnderWayIsNotStored"},
	{mutants.LateLabel, "timelines/access", "TestTheLabelIsNoNewerThanWhatWasRead"},
	{mutants.TrimmedLog, "timelines/access", "TestAdvanceOverATrimmedLog"},
	{mutants.StampWithLock, "timelines", "TestBumpIsLaterThanWhatItWaitedFor"},
	{mutants.LikedAgain, "timelines", "TestLike"},
	{mutants.NothingDropped, "rivers", "TestNarrowingNeedsNoQueue"},

	{mutants.BuildingUnseen, "rivers", "TestBuildMeetsChange"},
	{mutants.EntryVersions, "rivers", "TestALateWriterLoses"},
	{mutants.FoldVersions, "rivers", "TestALateFoldLoses"},
	{mutants.Tombstones, "rivers", "TestATombstoneStandsBeforeItsEntry"},
	{mutants.EntryDeadline, "rivers", "TestTheDeadlineHoldsBehindALock"},
	{mutants.FoldDeadline, "rivers", "TestTheDeadlineHoldsBehindALock"},
	{mutants.LateDeadline, "rivers", "TestTheDeadlineCountsFromTheLookUp"},
	{mutants.LaterLikeLifts, "rivers", "TestAFriendsLikeLiftsOnce"},

	{mutants.BuildTimelines, "rivers", "TestABuildIsOfOneSnapshot"},
	{mutants.SwapEpoch, "rivers", "TestALostEpochStopsABuild"},
	{mutants.SwapDeadline, "rivers", "TestTheDeadlineHoldsToTheEnd"},
	{mutants.SwapRetired, "rivers", "TestABuildUnderWayIsOvertakenByAReplace"},
	{mutants.ExtendTwice, "rivers", "TestExtensionMeetsALikeFoundByItsActor"},
	{mutants.ExtendTrimmed, "rivers", "TestTrimMeetsExtension"},
	{mutants.FloorRises, "rivers", "TestExtensionsMeet"},
	{mutants.Joined, "rivers", "TestAReplaceJoinsNoOlderOne"},
	{mutants.BelowFloor, "rivers", "TestEachStepIsNeeded/R5:_readers"},
	{mutants.OtherEpoch, "rivers", "TestAnyTableMayBeLost"},
	{mutants.MissingFold, "rivers", "TestAMissingFoldIsMadeAgain"},
	{mutants.TwoMoments, "rivers", "TestADecisionIsOfOneMoment"},
	{mutants.LateTombstones, "rivers", "TestExpire"},
	{mutants.ClockGoesBack, "rivers", "TestTheClockNeverGoesBack"},

	{mutants.RiversOfActor, "tiers", "TestMyChangeIsInMyRivers"},
	{mutants.ActorsBuilding, "rivers", "TestMyChangeMeetsABuild"},
	{mutants.FoldBeforeReply, "rivers", "TestEachStepIsNeeded/R4:_what_was_deleted"},
	{mutants.ClockUnpublished, "tiers", "TestNothingNarrowedIsShown/an_account_gone_private"},
	{mutants.OpenRiversOnly, "tiers", "TestTiersDivideTheRivers"},
	{mutants.ReconnectLost, "tiers", "TestBusReconnects"},

	{mutants.LeaseLast, "web/live", "TestLeasedBeforeTheVisit"},
	{mutants.RegisterLast, "web/live", "TestNothingFallsBetweenPageAndSocket"},
	{mutants.LaggingUnopened, "web/live", "TestOpenedWhileRiversLag"},
	{mutants.OldestWaits, "web/live", "TestTheNewestUpdateWaits"},
	{mutants.StaleDecision, "web/live", "TestStaleDecisionsAreMadeAgain"},
	{mutants.SyncUndone, "web/live", "TestOldUpdateDoesNotUndoASync"},
	{mutants.Uncompared, "web/live", "TestLostMessagesAreHealed"},
}
