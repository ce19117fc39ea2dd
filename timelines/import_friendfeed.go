package timelines

import "riverrun/timelines/friendfeed"

// FriendFeedSource is the name of FriendFeed as a source.
const FriendFeedSource = "friendfeed"

// FromFriendFeed converts an archive's entry for Import.
func FromFriendFeed(e *friendfeed.Entry) Imported {
	p := Imported{
		ExternalID: e.ID, URL: e.URL, Body: e.Body, CreatedAt: e.Date, Author: fromFriendFeed(e.From, e.Feed),
		ToAssumed: e.OwnFeed, Via: e.Via.Name, ViaURL: e.Via.URL,
	}
	for _, to := range e.To {
		a := fromFriendFeed(to.Account, e.Feed)
		if to.Direct {
			p.Direct = append(p.Direct, a)
		} else {
			p.To = append(p.To, a)
		}
	}
	for _, a := range e.Attachments {
		p.Attachments = append(p.Attachments, ImportedAttachment(a))
	}
	for _, c := range e.Comments {
		p.Comments = append(p.Comments, ImportedComment{
			ExternalID: c.ID, Body: c.Body, CreatedAt: c.Date, Author: fromFriendFeed(c.From, e.Feed), Via: c.Via,
		})
	}
	for _, l := range e.Likes {
		p.Likes = append(p.Likes, ImportedLike{CreatedAt: l.Date, Account: fromFriendFeed(l.From, e.Feed)})
	}
	return p
}

// fromFriendFeed converts an account. If it is the archive's own feed, it gets the
// description of the feed.
func fromFriendFeed(a, feed friendfeed.Account) ImportedAccount {
	m := ImportedAccount{
		ExternalID: a.ID, Kind: User, Name: a.Name, Title: a.Title, Vague: a.OfFeed, Private: a.Private,
	}
	if a.Group {
		m.Kind = Group
	}
	if a.ID == feed.ID {
		m.About = feed.About
	}
	return m
}
