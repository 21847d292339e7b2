//go:build !race

package modeltest

// hugeSize is that of a huge argument in units of 64 KiB.
const hugeSize = 40 << 4
