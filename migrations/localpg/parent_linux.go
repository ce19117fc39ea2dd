package localpg

import "syscall"

// endWithParent makes the kernel ask a child, the server or initdb, to stop if this process
// dies. For the kernel the parent is a thread, so the thread that starts the child must live
// until the child ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
