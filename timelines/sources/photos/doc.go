// Package photos keeps the pictures that items of sources have: which are to be fetched, and which
// files they became (source: 002, G19 and G20; 003, F30).
//
// # Promises
//
// A picture is one address of one item. The pass that applies an item compares the addresses it has
// with those stored (Note, package sources): one that stays is not fetched again, one that goes takes
// its file from the post, and a new one waits. A load waits for pictures only if its source is set so (Settings.WaitPictures): a
// batch with news is held for some minutes at most, so that posts and pictures come together (Await).
//
// Who fetches claims the next pictures of a host (Claim) for some minutes, those of several sources
// in turn, and records what became of them (Record): the file, the post that has it and the state of
// the picture in one transaction. So a process that is killed in between leaves a picture that waits,
// and nothing is attached twice. Pictures come late, and to posts that are on pages already: each is a
// change of its post.
//
// A post that was edited or deleted here is left alone.
//
// What is wrong with a picture is counted at the load that brought it, also long after that has
// ended, with a row of load_problems. A failure that may pass is tried again a few times before.
package photos
