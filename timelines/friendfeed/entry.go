package friendfeed

import "time"

// Entry is one entry of an archive with all that hangs on it, ready to be
// stored: every text is plain, every name mapped.
type Entry struct {
	// ID is the entry's own key ("_id"). An entry that stood in two feeds has the
	// same one in both their files.
	ID string
	// URL is where the entry stood.
	URL  string
	Body string
	Date time.Time
	From Account
	// To is where the entry was put, in the archive's order, the author's own feed
	// written out where the archive says nothing.
	To []Destination
	// OwnFeed is set where To was not in the archive and stands for the author's own
	// feed.
	OwnFeed     bool
	Via         Via
	Attachments []Attachment
	Comments    []Comment
	Likes       []Like
	// Feed is the feed whose file this is; its ID is empty where the archive does not
	// say.
	Feed Account
	// Offset is where in the file the entry begins, in bytes; Element counts from 1.
	Offset  int64
	Element int
}

// Account is a person or a group as an entry mentions it.
type Account struct {
	// ID is the name at the source, Name what becomes of it here (Name).
	ID, Name string
	// Title is the shown name, at most 100 characters.
	Title string
	// OfFeed is set where the title was that of the person's feed ("Ann's feed"), the
	// suffix dropped: any other mention knows better.
	OfFeed bool
	// About is what a group says of itself; only Feed has it.
	About   string
	Group   bool
	Private bool
}

// Destination is one of the places an entry was put.
type Destination struct {
	Account
	// Direct: sent to that person, not put into their feed.
	Direct bool
}

// Via is the program or service an entry came through.
type Via struct{ Name, URL string }

// Attachment is a link to a file or to what was shown as a picture. Nothing of
// it is ever fetched.
type Attachment struct {
	URL, Title string
	Bytes      int64
}

// Comment is one comment; ID is unique in the whole source.
type Comment struct {
	ID   string
	Body string
	Date time.Time
	From Account
	Via  string
}

// Like is one like.
type Like struct {
	Date time.Time
	From Account
}
