//go:build !linux

package localpg

import "syscall"

// endWithParent does nothing, because this kernel cannot do it. The next owner of the data
// directory stops an orphaned server and keeps away from the files of an orphaned initdb.
func endWithParent(*syscall.SysProcAttr) {}
