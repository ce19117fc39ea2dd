package sources

// ClaimQuery is how Claim claims.
const ClaimQuery = claim

// TellAllQuery is what TellAll asks.
const TellAllQuery = tellAll
