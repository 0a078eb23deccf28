package workspace

import "testing"

// TestWhatHidesIsShownByNumber has a character of each kind that a screen does not show
// or that changes what it shows.
func TestWhatHidesIsShownByNumber(t *testing.T) {
	for r, number := range map[rune]string{
		'\x00': "0000", '\x1b': "001B", '\r': "000D", '\b': "0008", '\x7f': "007F", '\u009b': "009B", '\u0085': "0085", '\u00ad': "00AD", '\u034f': "034F", '\u061c': "061C",
		'\u115f': "115F", '\u1160': "1160", '\u17b4': "17B4", '\u180b': "180B", '\u180e': "180E", '\u200b': "200B", '\u200e': "200E", '\u2028': "2028", '\u2029': "2029", '\u202a': "202A", '\u202e': "202E",
		'\u2060': "2060", '\u2066': "2066", '\u2069': "2069", '\u2800': "2800", '\u3164': "3164", '\ufe00': "FE00", '\ufeff': "FEFF", '\uffa0': "FFA0", '\ufff9': "FFF9", '\U000e0041': "E0041", '\U000e0101': "E0101",
		'\ue000': "E000", '\u2003': "2003", '\u0378': "0378",
	} {
		for name, show := range map[string]func(string) string{"Visible": Visible, "VisibleProse": VisibleProse} {
			if got, want := show("a"+string(r)+"b\n"), "a<U+"+number+">b\n"; got != want {
				t.Errorf("%s: U+%s is shown as %q, want %q", name, number, got, want)
			}
		}
	}
	for _, s := range []string{"", "plain\n\ttext", "ünï 日本語　全角", "a\u00a0b", "naïve e\u0301", "العربية", "हिन्दी", "👍🏽"} {
		if got := Visible(s); got != s {
			t.Errorf("%q is shown as %q", s, got)
		}
	}
	for s, want := range map[string]string{"a\r\nb\xff": "a\nb\ufffd", "👩\u200d💻": "👩<U+200D>💻", "❤\ufe0f": "❤<U+FE0F>"} {
		if got := Visible(s); got != want {
			t.Errorf("%q is shown as %q, want %q", s, got, want)
		}
	}
	for _, s := range []string{"👩\u200d💻", "❤\ufe0f", "می\u200cخواهم"} {
		if got := VisibleProse(s); got != s {
			t.Errorf("%q is shown as %q", s, got)
		}
	}
}
