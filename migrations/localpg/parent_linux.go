package localpg

import "syscall"

// endWithParent makes the kernel ask the server to stop if this process dies. For the
// kernel the parent is a thread, so the thread that starts the server must live until the
// server ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
