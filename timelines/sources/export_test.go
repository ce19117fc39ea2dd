package sources

// ClaimQuery is how Claim claims.
const ClaimQuery = claim

// TellAllQuery is what TellAll asks.
const TellAllQuery = tellAll

// BareAddress writes an address as posts have it.
var BareAddress = bareAddress

// Written cuts the text of an item to the room that a post has.
var Written = written
