package estimate_test

import (
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/estimate"
)

func TestTokens(t *testing.T) { // R-BILL-01, the vectors of appendix D
	tests := []struct {
		name string
		text string
		want int
	}{
		{"empty", "", 0},
		{"one letter", "a", 1},
		{"400 ASCII", strings.Repeat("a", 400), 100},
		{"401 ASCII", strings.Repeat("a", 401), 101},
		{"18 CJK, where floats give 11", strings.Repeat("字", 18), 10},
		{"9 CJK", strings.Repeat("字", 9), 5},
		{"10 CJK and 10 ASCII", strings.Repeat("字", 10) + strings.Repeat("a", 10), 7},
		{"hiragana is not CJK", strings.Repeat("あ", 8), 2},
		{"the first of the range", strings.Repeat("\u4e00", 18), 10},
		{"the last of the range", strings.Repeat("\u9fff", 18), 10},
		{"before the range", strings.Repeat("\u4dff", 18), 5},
		{"after the range", strings.Repeat("\ua000", 18), 5},
		{"beyond the basic plane", strings.Repeat("\U00020000", 8), 2},
		{"bytes that are not UTF-8", "\xff\xfe\xfd\xfc\xfb", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := estimate.Tokens(tt.text); got != tt.want {
				t.Errorf("Tokens() = %d, want %d", got, tt.want)
			}
		})
	}
}

// exact is the formula in numbers of any size.
func exact(text string) int64 {
	n, c := int64(utf8.RuneCountInString(text)), int64(0)
	for _, r := range text {
		if 0x4E00 <= r && r <= 0x9FFF {
			c++
		}
	}
	return exactly(n, c)
}

func exactly(n, c int64) int64 {
	if n == 0 {
		return 0
	}
	square := new(big.Int).Mul(big.NewInt(n), big.NewInt(n))
	div := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(40), big.NewInt(n)), new(big.Int).Mul(big.NewInt(22), big.NewInt(c)))
	q, r := square.Mul(square, big.NewInt(10)).QuoRem(square, div, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

// The square of a length that a machine can hold is more than one word can.
func TestTokensOfAnyLength(t *testing.T) {
	for n := int64(1); n < 1<<47; n = n*3 + 1 {
		for _, c := range []int64{0, 1, n / 3, n - n/10, n} {
			if got, want := estimate.Likely(uint64(n), uint64(c)), exactly(n, c); int64(got) != want {
				t.Errorf("%d characters, %d of them CJK: %d tokens, want %d", n, c, got, want)
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("", "")
	f.Add("hello", " world")
	f.Add(strings.Repeat("字", 100), "abcdefghij")
	f.Add("\xff\xfe", "字")
	f.Fuzz(func(t *testing.T, a, b string) {
		text := a + b
		got := estimate.Text(text)
		if want := exact(text); int64(got.Likely) != want || estimate.Tokens(text) != got.Likely {
			t.Errorf("Tokens(%q) = %d, want %d", text, got.Likely, want)
		}
		n := utf8.RuneCountInString(text)
		if 4*got.Likely < n || got.Likely > n {
			t.Errorf("Tokens(%q) = %d, not within a quarter and all of %d characters", text, got.Likely, n)
		}
		if twice := estimate.Tokens(text + text); twice < got.Likely || twice > 2*got.Likely {
			t.Errorf("twice %q is %d, after %d", text, twice, got.Likely)
		}
		if more := estimate.Tokens(text + "字"); more < got.Likely {
			t.Errorf("%q and a CJK character is %d, after %d", text, more, got.Likely)
		}
		if got.Least < 0 || got.Least > n {
			t.Errorf("the least of %q = %d", text, got.Least)
		}
		if more := estimate.Text(text + text).Least; more < got.Least {
			t.Errorf("the least of twice %q = %d, after %d", text, more, got.Least)
		}
	})
}

// The counts on the right are those of o200k_base.
func TestLeast(t *testing.T) {
	tests := []struct {
		text       string
		want, real int
	}{
		{"", 0, 0},
		{"   \n\t\n", 0, 1},
		{"The quick brown fox jumps over the lazy dog.", 10, 10},
		{"hello hello hello", 3, 3},
		{strings.Repeat(" international", 50), 50, 50},
		{strings.Repeat("=", 128), 1, 2},
		{`{"path":"main.go"}`, 6, 6},
		{"12345678", 1, 3},
		{"人工智能", 1, 2},
		{"привет мир", 2, 3},
		{"I don't", 2, 2},
		{"'a'", 2, 2},
		{"日本毛片免费视频观看", 2, 2},
		{"ประเทศไทย", 1, 1},
	}
	for _, tt := range tests {
		got := estimate.Text(tt.text).Least
		if got != tt.want || got > tt.real {
			t.Errorf("the least of %q = %d, want %d, at most %d", tt.text, got, tt.want, tt.real)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	for name, piece := range map[string]string{"ascii": "func main() { return 1 }\n", "chinese": "这是一个测试句子。", "mixed": "func 主() { return 1 }\n"} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(piece, 1<<16/len(piece))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				estimate.Tokens(text)
			}
		})
	}
}
