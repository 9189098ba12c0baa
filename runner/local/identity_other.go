//go:build !linux

package local

func birth() uint64 { return 0 }

func bootID() string { return "" }
