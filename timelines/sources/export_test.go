package sources

// TellAllQuery is what TellAll asks.
const TellAllQuery = tellAll
