package migrations

// For the tests of package migrations_test, which needs testdb and so cannot
// stand in this package.
type Step = step

var (
	Load   = load
	Apply  = apply
	Revoke = revoke
)
