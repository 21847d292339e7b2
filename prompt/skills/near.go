package skills

import "strings"

// likely returns the key of front matter that was probably meant by one that means
// nothing: the same letters in another spelling, or all but one or two of them. ""
// is none.
func likely(key string) string {
	key = folded(key)
	for _, known := range []string{nameKey, descriptionKey, enabledKey, contractKey, metadataKey} {
		limit := 2
		if len(known) < 6 {
			limit = 1
		}
		if distance(key, folded(known)) <= limit {
			return known
		}
	}
	return ""
}

// folded returns a key without what spellings differ in: case, hyphens, underscores.
func folded(key string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(key))
}

// distance returns how many bytes have to be added, removed or replaced to make b of
// a, or a large number if that is far more than a few.
func distance(a, b string) int {
	if len(a) > 2*len(b) || len(b) > 2*len(a) {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1) // distances of the beginnings of b from what was seen of a
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
