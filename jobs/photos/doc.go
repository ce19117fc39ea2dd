// Package photos fetches the pictures of items of sources, and makes files of them (source: 002, G19
// and G20; 003, F30). Package riverrun/timelines/sources/photos keeps which pictures wait, and
// decides what happens to a picture.
//
// A run works one host. It claims the next pictures there, where the sources of the host take turns,
// and fetches one after the other, with a gap that all nodes keep. It goes through the guard of
// package fetch, also at redirects. It sends If-None-Match if the source has a picture of the same
// address. Package pictures finds the type of a picture by its content, turns it upright, strips it,
// and makes its sizes; no picture is served as it came. A few pictures at a time are recorded
// together.
//
// While a picture waits to be made, its file stands on the disk, not in memory. A node makes one
// large picture at a time. Pictures that people upload come first.
package photos
