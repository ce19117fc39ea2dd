package rules

import "riverrun/timelines/language"

// Bounds that constants elsewhere are made of.
const (
	PostRunes    = 100_000
	CommentRunes = 20_000
	MostPlaces   = 50
	MostDrafts   = 100
	MostLoose    = 100 // files of an account that stand in nothing yet
	MostTimed    = 100 // scheduled posts of an account
)

// The settings that are bounds (Rule.Set).
const (
	SetFileSize     = "file_size" // in megabytes
	SetPostFiles    = "post_files"
	SetCommentFiles = "comment_files"
)

var (
	written  = []Thing{Post, Comment}
	unsent   = []Thing{Post, Comment, Draft}
	sent     = []Thing{Destination}
	uploaded = []Thing{File}
	listed   = []Thing{Listing}
	came     = []Thing{Item}
)

// The text of a post or a comment.
var (
	TextInvalid = Rule{Of: unsent, Field: "body", Code: "text_invalid", Unit: Shape, Ways: Form}
	BodyEmpty   = Rule{Of: written, Field: "body", Code: "body_empty", Unit: Shape, Ways: Form}
	// PostLong is of a post; at a source of what title, text, addresses and tags of an item make
	// together. The text gives way.
	PostLong    = Rule{Of: []Thing{Post, Item}, Field: "body", Code: "body_long", Unit: Characters, Most: PostRunes, Ways: Form | Items, AtSource: Cut}
	CommentLong = Rule{Of: []Thing{Comment}, Field: "body", Code: "body_long", Unit: Characters, Most: CommentRunes, Ways: Form}
	// LanguageUnknown is of a language that somebody chose; items have ItemLanguage.
	LanguageUnknown = Rule{Of: []Thing{Post, Draft}, Field: "language", Code: "language_unknown", Unit: Words, Words: language.Known, Ways: Form}
	KeyLong         = Rule{Of: written, Field: "key", Code: "key_long", Unit: Characters, Most: 100, Ways: Form}
	KeyUsed         = Rule{Of: written, Field: "key", Code: "key_used", Unit: Standing, Ways: Form}
	// VisitorLong is of a draft before its author signs in.
	VisitorLong = Rule{Of: []Thing{Draft}, Field: "body", Code: "visitor_long", Unit: Characters, Most: 20_000, Ways: Form}
	DraftsMany  = Rule{Of: []Thing{Draft}, Field: "body", Code: "drafts_many", Unit: Values, Most: MostDrafts, Ways: Form}
)

// The time of a scheduled post.
var (
	DueFormat     = Rule{Of: []Thing{Post}, Field: "due", Code: "due_format", Unit: Shape, Ways: Form}
	DuePast       = Rule{Of: []Thing{Post}, Field: "due", Code: "due_past", Unit: MinutesLeast, Most: 1, Ways: Form}
	DueFar        = Rule{Of: []Thing{Post}, Field: "due", Code: "due_far", Unit: YearsMost, Most: 1, Ways: Form}
	DueZone       = Rule{Of: []Thing{Post}, Field: "zone", Code: "due_zone", Unit: Shape, Ways: Form}
	ScheduledMany = Rule{Of: []Thing{Post}, Field: "due", Code: "scheduled_many", Unit: Values, Most: MostTimed, Ways: Form}
	// DueListing: a scheduled post keeps no fields of a listing.
	DueListing = Rule{Of: []Thing{Post}, Field: "due", Code: "due_listing", Unit: Standing, Ways: Form}
)

// Destinations.
var (
	ToMany    = Rule{Of: []Thing{Destination, Draft}, Field: "to", Code: "to_many", Unit: Values, Most: MostPlaces, Ways: Form}
	ToUnknown = Rule{Of: sent, Field: "to", Code: "to_unknown", Unit: Standing, Ways: Form}
	ToEmpty   = Rule{Of: sent, Field: "to", Code: "to_empty", Unit: Shape, Ways: Form}
	ToNone    = Rule{Of: sent, Field: "to", Code: "to_none", Unit: Shape, Ways: Form}
	ToEyes    = Rule{Of: sent, Field: "to", Code: "to_eyes", Unit: Shape, Ways: Form}
	// ToForbidden is of a place where the author may not write. An item that a rule of its source leads
	// there is refused; the others are posted.
	ToForbidden = Rule{Of: []Thing{Destination, Item}, Field: "to", Code: "to_forbidden", Unit: Standing, Ways: Form | Items, AtSource: Refused}
	ToStranger  = Rule{Of: sent, Field: "to", Code: "to_stranger", Unit: Standing, Ways: Form}
	// ToApproval is of a group that approves posts first: a post that stands elsewhere does not move there.
	ToApproval = Rule{Of: sent, Field: "to", Code: "to_approval", Unit: Standing, Ways: Form}
	// PostHeld is of a post that waits or is blocked: it goes nowhere meanwhile.
	PostHeld = Rule{Of: sent, Field: "to", Code: "post_held", Unit: Standing, Ways: Form}
	ToClosed = Rule{Of: sent, Field: "to", Code: "to_closed", Unit: Standing, Ways: Form}
)

// Files. The pictures of items are fetched later, and have the codes of package photos.
var (
	FilesMany        = Rule{Of: []Thing{File, Post}, Field: "file", Code: "files_many", Unit: Values, Set: SetPostFiles, Ways: Form}
	CommentFilesMany = Rule{Of: []Thing{Comment}, Field: "file", Code: "files_many", Unit: Values, Set: SetCommentFiles, Ways: Form}
	FilesLoose       = Rule{Of: uploaded, Field: "file", Code: "files_loose", Unit: Values, Most: MostLoose, Ways: Form}
	FileLarge        = Rule{Of: uploaded, Field: "file", Code: "file_large", Unit: Megabytes, Set: SetFileSize, Ways: Form}
	FileEmpty        = Rule{Of: uploaded, Field: "file", Code: "file_empty", Unit: Shape, Ways: Form}
	FileForm         = Rule{Of: uploaded, Field: "file", Code: "file_form", Unit: Shape, Ways: Form}
	FilePixels       = Rule{Of: uploaded, Field: "file", Code: "file_pixels", Unit: Shape, Ways: Form}
	FileDamaged      = Rule{Of: uploaded, Field: "file", Code: "file_damaged", Unit: Shape, Ways: Form}
	FileUnknown      = Rule{Of: uploaded, Field: "file", Code: "file_unknown", Unit: Standing, Ways: Form}
	AltLong          = Rule{Of: uploaded, Field: "file", Code: "alt_long", Unit: Characters, Most: 1000, Ways: Form}
)

// Listings. The last ones are of what becomes of one.
var (
	// ListingPlace is of a listing that goes to no group that takes listings.
	ListingPlace     = Rule{Of: listed, Field: "to", Code: "listing_place", Unit: Standing, Ways: Form}
	PriceFormat      = Rule{Of: listed, Field: "price", Code: "price_format", Unit: Shape, Ways: Form}
	PriceRange       = Rule{Of: listed, Field: "price", Code: "price_range", Unit: Cents, Most: 999_999_999_99, Ways: Form}
	CurrencyUnknown  = Rule{Of: listed, Field: "currency", Code: "currency_unknown", Unit: Words, Words: currencies, Ways: Form}
	PlaceInvalid     = Rule{Of: listed, Field: "place", Code: "text_invalid", Unit: Shape, Ways: Form}
	PlaceLong        = Rule{Of: listed, Field: "place", Code: "place_long", Unit: Characters, Most: 100, Ways: Form}
	ConditionUnknown = Rule{Of: listed, Field: "condition", Code: "condition_unknown", Unit: Words, Words: []string{"new", "good", "used", "broken"}, Ways: Form}
	UntilFormat      = Rule{Of: listed, Field: "until", Code: "until_format", Unit: Shape, Ways: Form}
	UntilPast        = Rule{Of: listed, Field: "until", Code: "until_past", Unit: DaysLeast, Most: 1, Ways: Form}
	UntilFar         = Rule{Of: listed, Field: "until", Code: "until_far", Unit: DaysMost, Most: 180, Ways: Form}
	ListingNone      = Rule{Of: listed, Field: "listing", Code: "listing_none", Unit: Standing, Ways: Form}
	ListingClosed    = Rule{Of: listed, Field: "listing", Code: "listing_closed", Unit: Standing, Ways: Form}
	HowUnknown       = Rule{Of: listed, Field: "how", Code: "how_unknown", Unit: Words, Words: []string{"sold", "given"}, Ways: Form}
	SoldFormat       = Rule{Of: listed, Field: "sold", Code: "price_format", Unit: Shape, Ways: Form}
	SoldRange        = Rule{Of: listed, Field: "sold", Code: "price_range", Unit: Cents, Most: PriceRange.Most, Ways: Form}
	// StateUnknown is of a filter, as are prices there (Price).
	StateUnknown = Rule{Of: listed, Field: "state", Code: "state_unknown", Unit: Words, Words: []string{"active", "expired", "closed"}, Ways: Form}
)

// Accounts.
var (
	TitleLong = Rule{Of: []Thing{Account}, Field: "title", Code: "title_long", Unit: Characters, Most: 100, Ways: Form}
	AboutLong = Rule{Of: []Thing{Account}, Field: "about", Code: "body_long", Unit: Characters, Most: 5000, Ways: Form}
	// PictureForm is of a picture of an account; a post takes all kinds of files.
	PictureForm = Rule{Of: []Thing{Account}, Field: "file", Code: "file_picture", Unit: Words, Words: []string{"image/jpeg", "image/png", "image/gif", "image/webp"}, Ways: Form}
)

// Items of sources, as package formats reads them. The problems of a file as a whole are its own.
var (
	ItemIDMissing    = item("id", "id_missing", Shape, 0, Refused)
	ItemIDLong       = item("id", "id_long", Bytes, 1024, Refused)
	ItemIDControl    = item("id", "id_control", Shape, 0, Refused)
	ItemIDRepeated   = item("id", "id_repeated", Standing, 0, Refused)
	ItemEmpty        = item("", "title_and_text_missing", Shape, 0, Refused)
	ItemTitle        = item("title", "title_long", Characters, 500, Cut)
	ItemText         = item("text", "text_long", Characters, 30_000, Cut)
	ItemURLInvalid   = item("url", "url_invalid", Shape, 0, LeftOut)
	ItemURLLong      = item("url", "url_long", Bytes, 2048, LeftOut)
	ItemDateInvalid  = item("date", "date_invalid", Shape, 0, LeftOut)
	ItemDateFuture   = item("date", "date_future", Shape, 0, LeftOut)
	ItemDateOld      = item("date", "date_old", Shape, 0, LeftOut)
	ItemAuthor       = item("author", "author_long", Characters, 200, Cut)
	ItemLanguage     = item("language", "language_unknown", Shape, 0, LeftOut)
	ItemCategoryLong = item("categories", "category_long", Characters, 100, LeftOut)
	ItemCategoryMany = item("categories", "category_many", Values, 50, LeftOut)
	// ItemPlace is of its name, and of coordinates that are not degrees.
	ItemPlace          = item("place", "place_invalid", Characters, 200, LeftOut)
	ItemPictureInvalid = item("pictures", "picture_invalid", Shape, 0, LeftOut)
	ItemPictureMany    = item("pictures", "picture_many", Values, 20, LeftOut)
	ItemFileInvalid    = item("files", "file_invalid", Shape, 0, LeftOut)
	ItemFileMany       = item("files", "file_many", Values, 20, LeftOut)
)

func item(field, code string, unit Unit, most int, effect Effect) Rule {
	return Rule{Of: came, Field: field, Code: code, Unit: unit, Most: most, Ways: Items, AtSource: effect}
}

// Table is the table.
var Table = []Rule{
	PostLong, CommentLong, BodyEmpty, TextInvalid, LanguageUnknown, DraftsMany, VisitorLong, KeyLong, KeyUsed,
	DueFormat, DuePast, DueFar, DueZone, ScheduledMany, DueListing,
	ToMany, ToUnknown, ToEmpty, ToNone, ToEyes, ToForbidden, ToStranger, ToClosed, ToApproval, PostHeld,
	FilesMany, CommentFilesMany, FileLarge, FileEmpty, FileForm, FilePixels, FileDamaged, FileUnknown, AltLong, FilesLoose,
	ListingPlace, PriceRange, PriceFormat, CurrencyUnknown, PlaceLong, PlaceInvalid, ConditionUnknown, UntilPast, UntilFar, UntilFormat,
	ListingNone, ListingClosed, HowUnknown, SoldRange, SoldFormat, StateUnknown,
	TitleLong, AboutLong, PictureForm,
	ItemIDMissing, ItemIDLong, ItemIDControl, ItemIDRepeated, ItemEmpty, ItemTitle, ItemText, ItemURLInvalid, ItemURLLong,
	ItemDateInvalid, ItemDateFuture, ItemDateOld, ItemAuthor, ItemLanguage, ItemCategoryLong, ItemCategoryMany, ItemPlace,
	ItemPictureInvalid, ItemPictureMany, ItemFileInvalid, ItemFileMany,
}
