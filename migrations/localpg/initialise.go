package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// initialise creates the cluster's files if there are none. It returns the programs to run
// the cluster with. The caller holds the data directory's lock.
func (c *Cluster) initialise(ctx context.Context, cfg Config, who owner) (Programs, error) {
	made, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err == nil {
		c.sweep(ctx)
		major, err := strconv.Atoi(strings.TrimSpace(string(made)))
		if err != nil {
			return Programs{}, fmt.Errorf("version of the cluster in %s: %w", c.data, err)
		}
		return Find(major)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return Programs{}, fmt.Errorf("version of the cluster: %w", err)
	}
	programs, err := Find(0)
	if err != nil {
		return Programs{}, err
	}
	c.log.InfoContext(ctx, "making a PostgreSQL cluster", "dir", c.data, "postgresql", programs.Major)
	c.sweep(ctx)
	if err := c.make(ctx, cfg, who, programs); err != nil {
		return Programs{}, fmt.Errorf("make the cluster: %w", err)
	}
	return programs, nil
}

// make makes the cluster's files under another name and renames them when they are whole. The
// name is new each time, because the initdb of a process that was killed may go on for a
// while: it must not write among the files of the next one.
func (c *Cluster) make(ctx context.Context, cfg Config, who owner, programs Programs) error {
	fresh, err := os.MkdirTemp(cfg.Dir, unfinished)
	if err != nil {
		return err
	}
	if who.drop {
		if err := os.Chown(fresh, who.uid, who.gid); err != nil {
			return err
		}
	}
	args := []string{
		"-D", fresh, "-U", superuser, "--auth=trust", "--encoding=UTF8",
		// Order is by bytes, so that no upgrade of the system's collations breaks an index.
		// Letters are Unicode's, so that lower() knows Cyrillic.
		"--lc-collate=C", "--lc-ctype=" + unicodeLocale(), "--lc-messages=C",
		"--lc-monetary=C", "--lc-numeric=C", "--lc-time=C",
	}
	if cfg.Volatile {
		args = append(args, "--no-sync")
	} else {
		args = append(args, "--data-checksums")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(programs.Dir, "initdb"), args...)
	cmd.Dir = fresh
	cmd.SysProcAttr = who.attr()
	endWithParent(cmd.SysProcAttr)
	runtime.LockOSThread() // see endWithParent
	out, err := cmd.CombinedOutput()
	runtime.UnlockOSThread()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	if cfg.Volatile {
		return os.Rename(fresh, c.data)
	}
	if err := adaptToMemory(fresh); err != nil {
		return fmt.Errorf("settings of the cluster: %w", err)
	}
	if err := os.Rename(fresh, c.data); err != nil {
		return err
	}
	return syncDir(cfg.Dir) // initdb has synced the files
}

// unfinished is the pattern of the names of clusters that initdb is making.
const unfinished = "postgresql.new*"

// sweep removes what starts that were killed in initdb left. If such an initdb still runs, it
// may add a file meanwhile; the next start removes it then.
func (c *Cluster) sweep(ctx context.Context) {
	left, err := filepath.Glob(filepath.Join(filepath.Dir(c.data), unfinished))
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		c.log.WarnContext(ctx, "files of an interrupted start could not be removed", "error", err)
	}
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// unicodeLocale is the locale that classifies letters without preferring a language.
func unicodeLocale() string {
	if runtime.GOOS == "darwin" {
		return "UTF-8"
	}
	return "C.UTF-8"
}
