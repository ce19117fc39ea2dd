//go:build !linux

package site

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}
