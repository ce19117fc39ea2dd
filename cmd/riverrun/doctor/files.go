package doctor

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// examples is how many names a row tells; "riverrun check" prints all.
const examples = 3

// files checks the store of uploads: whether it can be written, whether there is room, and whether what
// the primary store refers to is there.
func (e examination) files(ctx context.Context, primary *database) {
	if e.BlobsErr != nil {
		e.addError("files", e.BlobsErr, "mend RIVERRUN_FILES")
		return
	}
	if err := blobs.NewHealth(e.Blobs).Check(ctx); err != nil {
		e.addError("files", err, "make "+e.BlobsAt+" exist and riverrun's user own it; until then uploads are answered 503. A first start makes a missing directory")
	} else {
		e.add("files", OK, e.BlobsAt+", can be written", "")
	}
	if e.BlobsDir != "" {
		e.disk("files: disk", e.BlobsDir)
	}
	if primary == nil || !primary.whole {
		return // there is nothing to compare with
	}
	if e.BlobsDir != "" && !exists(e.BlobsDir) {
		return
	}
	found, err := files.Check(ctx, primary.pool, e.Blobs)
	if err != nil {
		e.addError("files: content", err, "see why "+e.BlobsAt+" cannot be read")
		return
	}
	e.Checks = append(e.Checks, contentCheck(found))
	used, err := files.Use(ctx, primary.pool)
	if err != nil {
		e.addError("files: use", err, "")
		return
	}
	e.Files = used
}

func contentCheck(found files.Report) Check {
	row := Check{"files: content", OK, fmt.Sprintf("blobs %d missing %d orphaned %d", found.Blobs, len(found.Missing), len(found.Orphaned)), ""}
	switch {
	case len(found.Missing) > 0:
		few := found.Missing[:min(len(found.Missing), examples)]
		row.Found += " (" + strings.Join(few, "; ") + ")"
		row.Status, row.Do = Fail, "bring them back from a copy of the files; \"riverrun check\" names them all"
	case len(found.Orphaned) > 0:
		row.Status, row.Do = Warn, "they cost only room: a job removes them every hour while the site is served; see whether jobs stand"
	}
	return row
}

// disk checks how much room is left where a directory is.
func (e examination) disk(name, dir string) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		e.addError(name, fmt.Errorf("%s: %w", dir, err), "make the directory, or mend the setting that names it")
		return
	}
	e.Checks = append(e.Checks, diskCheck(name, dir, uint64(s.Bavail)*uint64(s.Bsize), uint64(s.Blocks)*uint64(s.Bsize)))
}

func diskCheck(name, dir string, free, all uint64) Check {
	share := 100 * float64(free) / float64(max(all, 1))
	row := Check{name, OK, fmt.Sprintf("%s free of %s (%.0f %%) at %s", size(int64(free)), size(int64(all)), share, dir), ""}
	const do = "make room, or move the directory to a larger disk"
	switch {
	case share < 2:
		row.Status, row.Do = Fail, do
	case share < 10:
		row.Status, row.Do = Warn, do
	}
	return row
}
