// Package live follows rivers for the pages that are open in browsers, and tells each page
// over a WebSocket what changed. PROTOCOL.md describes the frames to outside programs.
//
// # Words
//
//   - The [Hub] is all of this on one node. A [Config] says where it gets its pages from:
//     [Rivers] decides which entries a viewer may see, [Pages] makes the HTML of them.
//   - A socket is the WebSocket connection of one open page.
//   - A shown page is what that page shows, as far as the server knows: the entries, and the
//     stamp and the position of each.
//   - A topic is one river as one session sees it. All sockets that show it share what is
//     read and decided for it.
//   - A shard has a share of the topics. A flush is one statement that reads what became of
//     some posts in all topics of a shard. Searches have a shard of their own, and a finder
//     that keeps their results up to date.
//   - A lease is a row that says that this node has a river open. Tier 1 writes to leased
//     rivers first.
//   - A [Fingerprint] is what a page was decided with besides its entries: the people whom its
//     viewer sees, and what stands around the entries. A token is a keyed hash of the latter,
//     which the page keeps and sends when it comes back.
//
// # How a change reaches a browser
//
// Tier 1 has written the change into the rivers that are open, and the bus says which posts it
// touched (Hub.message). Each shard notes the posts and wakes up. Its flush reads them for all
// its topics at once, with the clock of access, so that what it finds was decided as a page is
// decided (shard.flush). It offers what it found to each socket of the topic: the newest state
// of a post takes the place of an older one that still waits in the socket's inbox. The
// socket's writer compares that state with the shown page, renders the entry once for all who
// see it alike, and sends the parts that differ (shownPage.entry). If the decision is more
// than a second old by then, it is made again first.
//
// A page that subscribes takes the other way round: its river is leased, the socket joins the
// topic, the river is visited, and the difference from what the page shows is sent
// (shownPage.sync). In this order nothing is lost between the page and its socket.
//
// A comparison finds what the bus lost: each socket's page is compared with its river every
// fifteen seconds (shownPage.compare). One that did not differ, and has done nothing since, is not
// compared again while all that a comparison depends on stays the same (firstPage).
//
// # Goroutines
//
// Hub.Start begins one for each shard, one for the finder, one for the leases, and one that
// beats once a second: it has the clock of access read, leases refreshed and pages compared.
// Hub.Serve runs in the goroutine of its request, which reads what the client sends, and begins
// two more: one writes and alone knows the shown page, one pings. Those of a socket end with its
// connection, those of the hub in Hub.Stop, which waits for all of them.
package live
