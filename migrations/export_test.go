package migrations

// For the tests of package migrations_test, which needs testdb and so cannot
// stand in this package.
var (
	Load  = load
	Apply = apply
)
