package core

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func reserve(size int) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size), nil
}

// commit makes the pages usable; those that were before stay as they are.
func commit(buf []byte) bool {
	if len(buf) == 0 {
		return true
	}
	_, err := windows.VirtualAlloc(address(buf), uintptr(len(buf)), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err == nil
}

// empty does nothing: committed pages go with the region.
func empty([]byte) {}

func release(buf []byte) { _ = windows.VirtualFree(address(buf), 0, windows.MEM_RELEASE) }

func address(buf []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(buf))) }
