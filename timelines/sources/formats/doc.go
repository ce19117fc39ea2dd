// Package formats turns the bytes of a feed into items: RSS of all versions, RDF, Atom, JSON
// Feed, and three formats of our own, XML, CSV and NDJSON. It is the first of the two passes
// of a load, and knows no database and no network.
//
// Its source document is 003, a design of a feed processor: this package answers what it says
// of validation, unification, and kinds of errors, F6, F14 to F20, F28 and F31 in the plan.
//
// # How to use it
//
// Canonical reads a file and writes a canonical file: NDJSON, one item a line, with the id and
// a hash of what is shown. The second pass reads that by ReadCanonical, from any line on. So a
// broken file is known before anything of it is applied, the difference to what is stored
// needs ids and hashes only, and one number resumes every format.
//
//	summary, err := formats.Canonical(file, raw, formats.Options{MediaType: …, Base: …, Now: load.CreatedAt})
//	…
//	lines, err := formats.ReadCanonical(file, load.Cursor)
//	for {
//		line, err := lines.Next() // ID, Hash, Bad; Item decodes the rest
//		…
//	}
//
// The same bytes and the same Options give the same lines, byte for byte, on every node. Now
// is one of the options, as a date is too far ahead of something: it must be kept with the
// load.
//
// A Reader gives the items without a file. Detect tells the format, Discover finds the feeds a
// page names, ParseOPML those of a list.
//
// # What can be wrong
//
//   - *Fatal: the file is broken, and reading it again gives the same. Nothing of it may be
//     applied. It has a Code, the line, the column, and an excerpt.
//   - any other error: the reader, or the writer, that was given failed. Try again later.
//     A pass is stopped in this way too: by a reader that fails when its context ends.
//   - Problem: one item is wrong. It is read all the same, so that nobody takes it for gone
//     (F19, F20). With a warning it is posted without what is wrong; with an error it is Bad:
//     present, and not to be posted.
//
// Codes is the table of all codes. An item of an id that came before has IDRepeated and is Bad,
// and the first one counts (F28): whoever applies lines must not take the second for a change
// of the first. An item without a readable id (ID is "", counted in Summary.Unknown) may be
// any stored one. In feeds of others an item without an id is known by its address, or else by its
// title and text; where items share addresses, by address and title (Options.ByContent). A load with such an item must not remove what it did not see.
//
// Wrong surroundings of a feed, as warnings of PHP before it or scripts behind it, and an encoding
// that nobody declares or that the server calls wrongly, are no reason to refuse it: the next
// item has a warning of it.
//
// Bad items have a hash too, which is another one than that of the same item without errors.
//
// # Texts
//
// HTML becomes plain text, as a person would copy it from a page: paragraphs, lists with their
// marks, and the address of a link behind its text. Posts know a small Markdown, but a post
// also says whether its text is written in it. The text of an item is not, and whoever writes it
// into markup escapes it (markup.Escape). What looks like @names and #tags in it is of another
// site, and the second pass makes none of them count.
//
// Files are what enclosures, Media RSS, attachments, <audio>, <video>, <embed>, <object> and
// frames give, each address once. Several forms of one film or sound are one file.
//
// Pictures that HTML shows are taken out of it, but not tracking pixels and emoji.
//
// Relative addresses start from xml:base, from the page of the item for its text, or from
// Options.Base. All addresses of an Item are absolute, of http or https, and in the form
// browsers send. Nothing says that they are public: whoever opens one asks the guard.
//
// # Bounds
//
// Memory is bounded by the largest item (Limits.ItemBytes) and not by the file, and by at most
// 24 bytes for each item, as ids are remembered by a hash of 64 bits. No DTD is obeyed: a file
// that declares an entity is refused, others are left to stand as text. A compressed file is
// opened, and its limit is that of what comes out of it. All work is in proportion to the
// bytes, with bounds on depth, attributes, namespaces and names.
//
// An item that is too large is skipped with ItemLarge. In CSV it is fatal, as it mostly is a
// quote that was never closed.
//
// # What was chosen
//
// gofeed is used in tests only, which compare what both read. It reads whole feeds into memory,
// 837 MB for a file of 234 MB, and has no bound on the size of an item, the depth of elements
// or the number of items. Given one item at a time in an envelope it would do, but takes 66 µs
// for each, three times what this package needs for all, and the envelope needs a scanner such
// as ours. It gives no lines: a load tells its owner the line of each problem (F31, F36). A
// date that it cannot read it leaves out without a word. Its texts are HTML, so
// that texts, pictures and players would be code of ours all the same, and so would be Media
// RSS beyond its raw elements, and our own formats. Hashes of items must stay the same for years
// (TestHashesStay): another version of a library that reads one field better would write all
// posts anew.
//
// encoding/xml keeps a token in memory however long it is, so that one picture written into an
// item would end the file, and reads a quarter as fast.
//
// Our own XML is read strictly: what the schema (XSD) refuses is a problem here too, and tests
// hold that against xmllint. Feeds of others are read as kindly as feed readers do.
package formats
