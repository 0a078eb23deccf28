package config

// nearest returns the candidate that s most likely stands for, empty when none is
// near.
func nearest(s string, candidates []string) string {
	if len(s) > 64 {
		return ""
	}
	best, least := "", len(fold(s))*2/5
	for _, c := range candidates {
		if d := distance(fold(s), fold(c)); d <= least && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// fold removes the differences that people confuse in keys: case and underscores.
func fold(s string) string {
	var out []byte
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_' || c == '-':
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// distance counts the letters to insert, drop, replace or swap with the next.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range len(a) {
		before, last, row := rows[i%3], rows[(i+1)%3], rows[(i+2)%3]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
