package hooks_test

import (
	"testing"

	"riverrun/timelines/hooks"
)

// A receiver computes the same with the tools that it has:
// printf '1700000000.{"changes":[]}' | openssl dgst -sha256 -hmac rrwh_secret
func TestSign(t *testing.T) {
	const want = "v1=095f03a85c0e4398bc0ce593f3d6450a8984d9b76cace2cbaf936e8a187150b7"
	if got := hooks.Sign("rrwh_secret", 1_700_000_000, []byte(`{"changes":[]}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
