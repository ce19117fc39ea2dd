package live

// These names are exported for the tests of package live_test.

const (
	FrameBurst = frameBurst
	MaxFrame   = maxFrame
	MaxSwaps   = maxSwaps
	TokenSize  = tokenSize
)

// Tabs are what stands around the entries, as the fingerprint says it.
func (of Fingerprint) Surroundings() string { return of.surroundings }
