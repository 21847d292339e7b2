package estimate

// Likely is the formula on counts, for texts that no test can hold.
func Likely(n, c uint64) int { return likely(n, c) }
