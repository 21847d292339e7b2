//go:build race

package modeltest

// hugeSize is that of a huge argument in units of 64 KiB: the race detector makes
// each byte dear, and a tenth shows as much of it.
const hugeSize = 4 << 4
