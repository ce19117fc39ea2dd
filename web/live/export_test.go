package live

// What the hub's own tests need of its inside.

const (
	FrameBurst = frameBurst
	MaxFrame   = maxFrame
	MaxSwaps   = maxSwaps
	TokenSize  = tokenSize
)

// Tabs are what stands around the entries, as the fingerprint says it.
func (of Fingerprint) Surroundings() string { return of.surroundings }
