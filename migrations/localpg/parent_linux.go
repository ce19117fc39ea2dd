package localpg

import "syscall"

// endWithParent makes the kernel ask the server to stop if this process dies
// without having said so itself. It counts by thread: the one that starts the
// server must live until the server ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
