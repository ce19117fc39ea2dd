package ways_test

import (
	"testing"

	"riverrun/migrations/testdb"
	"riverrun/web/webtest"
)

func TestMain(m *testing.M) {
	testdb.Main(m, webtest.CloseChromium)
}
