package friendfeed

import "time"

// Entry is one entry of an archive with its comments, likes and attachments, ready to be
// stored: all texts are plain, all names mapped.
type Entry struct {
	// ID is the entry's own key ("_id"). An entry that was in two feeds has the same one in
	// the files of both.
	ID string
	// URL is the entry's address at the source.
	URL  string
	Body string
	Date time.Time
	From Account
	// To lists the destinations of the entry, in the archive's order. If the archive names
	// none, it has the author's own feed.
	To []Destination
	// OwnFeed says that the archive named no destination.
	OwnFeed     bool
	Via         Via
	Attachments []Attachment
	Comments    []Comment
	Likes       []Like
	// Feed is the feed that the file is an archive of. Its ID is empty if the archive does
	// not have it.
	Feed Account
	// Offset is where in the file the entry begins, in bytes. Element counts from 1.
	Offset  int64
	Element int
}

// Account is a person or a group as an entry mentions it.
type Account struct {
	// ID is the name at the source, Name the username here (see Name).
	ID, Name string
	// Title is the display name, at most 100 characters.
	Title string
	// OfFeed says that the title comes from that of the person's feed ("Ann's feed"), without
	// the suffix. Any other mention has a better one.
	OfFeed bool
	// About is a group's description. Only Feed has it.
	About   string
	Group   bool
	Private bool
}

// Destination is one of the feeds or people that an entry was sent to.
type Destination struct {
	Account
	// Direct says that it was a message to that person.
	Direct bool
}

// Via is the program or service that an entry was written with.
type Via struct{ Name, URL string }

// Attachment is a link to a file or a picture. It is never fetched.
type Attachment struct {
	URL, Title string
	Bytes      int64
}

// Comment is one comment. Its ID is unique in the whole source.
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
