package site

import "syscall"

// endWithParent has the kernel stop the server if riverbench is killed.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
