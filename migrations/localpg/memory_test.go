package localpg

import (
	"strings"
	"testing"
)

func TestSettingsForMemory(t *testing.T) {
	const gb = 1 << 30
	for bytes, want := range map[uint64]string{
		gb / 4:  "\nshared_buffers = 128MB\neffective_cache_size = 128MB\n",
		2 * gb:  "\nshared_buffers = 512MB\neffective_cache_size = 1024MB\n",
		64 * gb: "\nshared_buffers = 2048MB\neffective_cache_size = 32768MB\n",
	} {
		if got := settingsFor(bytes); !strings.HasSuffix(got, want) {
			t.Errorf("%d bytes: got %s, want%s", bytes, got, want)
		}
	}
}
