package sources

// TellAllQuery is what TellAll asks.
const TellAllQuery = tellAll

// BareAddress writes an address as posts have it.
var BareAddress = bareAddress
