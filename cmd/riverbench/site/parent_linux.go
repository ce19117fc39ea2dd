package site

import "syscall"

// endWithParent has the kernel stop the server if riverbench is killed. For the kernel the parent is
// a thread, so the thread that starts the server must live until the server ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
