package site

import (
	"testing"

	"riverrun/migrations/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }
