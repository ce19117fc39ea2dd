package localpg

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the user that the server runs as.
type owner struct {
	name     string
	uid, gid int
	// drop says that this process is root and must become owner to start the server.
	drop bool
}

// ownerOf returns the user that the cluster in data is to run as: this process's, or an
// unprivileged one if this process is root.
func ownerOf(data string) (owner, error) {
	if os.Geteuid() != 0 {
		return owner{name: "you", uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	// A cluster that exists keeps its user.
	info, err := os.Stat(data)
	switch {
	case err == nil:
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return owner{}, fmt.Errorf("owner of %s is unknown on this system", data)
		}
		if stat.Uid != 0 {
			name := strconv.Itoa(int(stat.Uid))
			if u, err := user.LookupId(name); err == nil {
				name = u.Username
			}
			return owner{name: name, uid: int(stat.Uid), gid: int(stat.Gid), drop: true}, nil
		}
	case !errors.Is(err, os.ErrNotExist):
		return owner{}, err
	}
	for _, name := range []string{"postgres", "_postgres", systemUser} {
		if u, err := user.Lookup(name); err == nil {
			return ownerFrom(u)
		}
	}
	out, err := exec.Command("useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", systemUser).CombinedOutput()
	if err != nil {
		return owner{}, fmt.Errorf("PostgreSQL does not run as root, and there is neither a user postgres nor a way to make one (useradd %s: %w: %s); make a system user %s",
			systemUser, err, out, systemUser)
	}
	u, err := user.Lookup(systemUser)
	if err != nil {
		return owner{}, err
	}
	return ownerFrom(u)
}

// systemUser is created if PostgreSQL's package has not created a user.
const systemUser = "riverrun"

func ownerFrom(u *user.User) (owner, error) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return owner{}, fmt.Errorf("user %s: %w", u.Username, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return owner{}, fmt.Errorf("user %s: %w", u.Username, err)
	}
	return owner{name: u.Username, uid: uid, gid: gid, drop: true}, nil
}

// attr makes a child run as o, in a process group of its own, so that a Ctrl-C in the
// terminal goes only to riverrun, which stops the server last.
func (o owner) attr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if o.drop {
		attr.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return attr
}

// mkdir creates a directory that only o may enter, or uses an existing one. It refuses a
// directory of another user, or a link to one: in a place where everybody may write,
// somebody may have put it there on purpose.
func (o owner) mkdir(path string) error {
	err := os.Mkdir(path, 0o700)
	switch {
	case err == nil:
		if o.drop {
			return os.Chown(path, o.uid, o.gid)
		}
		return nil
	case !errors.Is(err, os.ErrExist):
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && info.IsDir() && o.drop && int(stat.Uid) == os.Geteuid() && info.Mode().Perm() == 0o700 {
		return os.Lchown(path, o.uid, o.gid) // an earlier start was killed before it did this
	}
	if !ok || !info.IsDir() || int(stat.Uid) != o.uid || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s is not a directory of %s's own with mode 0700", path, o.name)
	}
	return nil
}

// reach returns an error that names a directory above path which o may not pass through, if
// there is one. A home directory is usually closed to the user that a root's server runs as.
func (o owner) reach(path string) error {
	if !o.drop {
		return nil
	}
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		mode := info.Mode().Perm()
		passes := ok && (int(stat.Uid) == o.uid && mode&0o100 != 0 ||
			int(stat.Gid) == o.gid && mode&0o010 != 0 ||
			mode&0o001 != 0)
		if !passes {
			return fmt.Errorf("PostgreSQL does not run as root but as %s, who may not pass through %s (mode %04o); choose another data directory (RIVERRUN_DATA) or chmod o+x %s",
				o.name, dir, mode, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
