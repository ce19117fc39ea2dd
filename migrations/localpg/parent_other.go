//go:build !linux

package localpg

import "syscall"

// endWithParent does nothing, because this kernel cannot do it. The next owner of the data
// directory stops the orphan.
func endWithParent(*syscall.SysProcAttr) {}
