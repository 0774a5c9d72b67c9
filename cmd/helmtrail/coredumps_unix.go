//go:build unix

package main

import "syscall"

// forbidCoreDumps keeps tokens and secrets in memory out of core dumps, for this
// process and those that it starts. A limit of 1 byte also holds if a program
// collects the dumps, which 0 does not (Linux, fs/coredump.c). Failures are
// ignored: dumps are the exception, and the operator's to configure.
func forbidCoreDumps() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) != nil {
		return
	}
	limit.Max = min(limit.Max, 1)
	limit.Cur = limit.Max
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
}
