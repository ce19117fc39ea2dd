// Package previews reads what a page says of itself, for the card under a link: a title, a
// description, the name of its site and a picture. Package fetch does the fetching, so a
// link cannot make a riverrun look into its own network.
//
// # Promises
//
//   - Texts are single lines of bounded length, valid UTF-8, without control characters and
//     without characters that turn the direction of writing. They are plain text: what shows
//     them must escape them for HTML.
//   - The picture's address is absolute and of http or https. It may still be one that
//     package fetch refuses. Pages must not load it from there: Image reads the bytes, and the
//     site serves a copy.
//   - At most 512 kB of a page are read, whatever its size. Nothing on it is executed.
//
// # Refused
//
// oEmbed, JSON-LD and redirects that a page makes by itself (<meta http-equiv=refresh>, scripts).
package previews
