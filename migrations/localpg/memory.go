package localpg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// adaptToMemory adds to a new cluster's postgresql.conf what depends on how much memory this
// process may use: that of the machine, or the limit of its container. From then on the operator
// may change it. PostgreSQL's own defaults suit a machine of half a gigabyte.
func adaptToMemory(dir string) error {
	bytes, err := memlimit.FromSystem()
	if err != nil {
		return nil // it is not known; the defaults work everywhere
	}
	if limit, err := memlimit.FromCgroup(); err == nil { // without a limit it is an error
		bytes = min(bytes, limit)
	}
	file, err := os.OpenFile(filepath.Join(dir, "postgresql.conf"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(settingsFor(bytes))
	return errors.Join(err, file.Sync(), file.Close())
}

// settingsFor gives the server's own cache a quarter of the memory, as its manual advises, but
// no more than 2 GB: old posts are seldom read. The planner is told that the system has half of
// the memory for files.
func settingsFor(bytes uint64) string {
	const mb = 1 << 20
	shared := min(max(bytes/mb/4, 128), 2048)
	return fmt.Sprintf("\n# By the memory of the machine on which riverrun made the cluster:\nshared_buffers = %dMB\neffective_cache_size = %dMB\n",
		shared, max(bytes/mb/2, shared))
}
