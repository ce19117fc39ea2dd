// Package photos keeps the pictures of items of sources: which pictures are to be fetched, and which
// files they became (source: 002, G19 and G20; 003, F30).
//
// # Promises
//
// A picture is one address of one item. The pass that applies an item compares the addresses of the
// item with the stored ones (Note, package sources). A picture whose address stays is not fetched
// again. If an address goes, its file is taken from the post. A new address waits to be fetched. A
// load waits for pictures only if the settings of its source say so (Settings.WaitPictures): a batch
// with news is held for some minutes at most, so that posts and pictures appear together (Await).
//
// A process that fetches claims the next pictures of a host for some minutes (Claim). The sources of
// the host take turns. The process then records the results (Record): the file, its post and the
// state of the picture in one transaction. So if the process is killed in between, the picture still
// waits, and nothing is attached twice. Pictures arrive late, and their posts may be on pages
// already, so each picture is a change of its post.
//
// A post that was edited or deleted here is left alone.
//
// A problem with a picture is recorded as a row of load_problems, and counted for the load that
// brought the picture, even long after that load has ended. If the failure may pass, the picture is
// first tried again a few times.
package photos
