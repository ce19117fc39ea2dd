// Package formats turns the bytes of a feed into items: RSS of all versions, RDF, Atom, JSON
// Feed, and three formats of our own, XML, CSV and NDJSON. It is the first of the two passes
// of a load, and knows no database and no network.
//
// Its source document is 003, a design of a feed processor. This package does the part about
// validation, unification, and kinds of errors: F6, F14 to F20, F28 and F31 in the plan.
//
// # How to use it
//
// Canonical reads a file and writes a canonical file: NDJSON, one item a line, with the id and a hash
// of the contents. The second pass reads that file with ReadCanonical, from any line on. So a broken
// file is known before anything of it is applied, a comparison with the stored items needs only ids
// and hashes, and one number is enough to resume any format.
//
//	summary, err := formats.Canonical(file, raw, formats.Options{MediaType: …, Base: …, Now: load.CreatedAt})
//	…
//	lines, err := formats.ReadCanonical(file, load.Cursor)
//	for {
//		line, err := lines.Next() // ID, Hash, Bad; Item decodes the rest
//		…
//	}
//
// The same bytes and the same Options give the same lines, byte for byte, on every node. Now is one
// of the options, because a date can be too far ahead of it: the load must store it.
//
// A Reader gives the items without a file. Detect finds the format, Discover the feeds that a page
// names, ParseOPML the feeds of a list.
//
// # What can be wrong
//
//   - *Fatal: the file is broken, and reading it again gives the same error. Nothing of it may be
//     applied. It has a Code, the line, the column, and an excerpt.
//   - any other error: the reader, or the writer, that was given failed. Try again later. A
//     pass is stopped in this way too: by a reader that fails when its context ends.
//   - Problem: one item is wrong. It is read all the same, so that it does not look absent
//     (F19, F20). With a warning it is posted without the wrong part. With an error it is Bad:
//     present, and not to be posted.
//
// Codes is the table of all codes. An item whose id came before has IDRepeated and is Bad. The first
// item with the id counts (F28): a caller that applies lines must not take the second for a change of
// the first. An item without a readable id (ID is "", counted in Summary.Unknown) may be any stored
// one, so a load with such an item must not remove the items that it did not see.
//
// In feeds of others, an item without an id is known by its address, or else by its title and text.
// If items share an address, each of them is known by address and title (Options.Shared).
//
// Some feeds have foreign text around them, such as warnings of PHP before it or scripts behind it,
// or an encoding that nobody declares or that the server names wrongly. They are not refused: the
// next item gets a warning.
//
// A bad item has a hash too. The same item without errors has another hash.
//
// # Texts
//
// HTML becomes plain text, as a person would copy it from a page: paragraphs, lists with their marks,
// and the address of a link behind its text. A post also says whether its text is written in markup,
// a small Markdown. The text of an item never is, so code that writes it into markup must escape it
// (markup.Escape). Words that look like @names and #tags are of another site, and the second pass
// makes none of them count.
//
// Files come from enclosures, Media RSS, attachments, <audio>, <video>, <embed>, <object> and frames,
// each address once. Several forms of one film or sound are one file.
//
// Pictures that HTML shows are taken out of it, except tracking pixels and emoji.
//
// Relative addresses start from xml:base, from the page of the item for its text, or from
// Options.Base. All addresses of an Item are absolute, have http or https, and are written as
// browsers send them. They need not be public addresses: code that connects to one must go through
// the guard.
//
// # Bounds
//
// The largest item bounds the memory (Limits.ItemBytes), and not the file. At most 24 bytes for each
// item are added, as ids are remembered by a hash of 64 bits. No DTD is obeyed: a file that declares
// an entity is refused, and references to others stay as text. A compressed file is opened, and its
// limit is that of the bytes that come out of it. All work is in proportion to the bytes, with bounds
// on depth, attributes, namespaces and names.
//
// An item that is too large is skipped with ItemLarge. In CSV this is fatal, since mostly a quote was
// never closed.
//
// # Rejected
//
// gofeed is used only in tests, which compare its results with ours. It reads whole feeds into
// memory, 837 MB for a file of 234 MB, and has no bound on the size of an item, the depth of elements
// or the number of items. One could give it one item at a time in an envelope. But it takes 66 µs for
// each, three times what this package needs for everything, and the envelope needs a scanner such as
// ours. It gives no lines, and a load tells its owner the line of each problem (F31, F36). It leaves
// out a date that it cannot read, without a word. Its texts are HTML. So texts, pictures and players
// would be our own code all the same, and so would be Media RSS beyond its raw elements, and our own
// formats. Hashes of items must stay the same for years (TestHashesStay): a new version of a library
// that reads one field better would write all posts anew.
//
// encoding/xml keeps a token in memory however long it is, so a picture written into an item would
// end the file. It also reads at a quarter of our speed.
//
// Our own XML is read strictly: all that the schema (XSD) refuses is a problem here too, and tests
// compare that with xmllint. Feeds of others are read as leniently as feed readers do.
package formats
