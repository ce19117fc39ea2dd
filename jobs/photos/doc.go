// Package photos fetches the pictures that items of sources have, and makes files of them (source:
// 002, G19 and G20; 003, F30). Which pictures wait, and what becomes of one, is said by package
// riverrun/timelines/sources/photos.
//
// A run works one host: it claims the next pictures there, those of several sources in turn, and
// fetches one after the other, with a gap that all nodes keep. It goes through the guard of package
// fetch, also at redirects, and asks with If-None-Match if the source has a picture of the same
// address. What comes is told by its content, oriented, stripped and made in its sizes, by package
// pictures; nothing of it is served as it came. A few pictures at a time are recorded together.
//
// The file of a picture waits on the disk, not in memory, until it may be made: one large picture is
// made at a time on a node, and those that people upload come first.
package photos
