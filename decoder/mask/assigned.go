package mask

import "strings"

// appendAssigned appends the values that follow a key and a colon or an equals
// sign: in YAML, JSON, properties, an environment file or a command line.
func appendAssigned(found []span, text string, names namer) []span {
	for i := 0; i < len(text) && len(found) <= maxParts; i++ {
		if text[i] != ':' && text[i] != '=' {
			continue
		}
		key := keyBefore(text, i)
		if key == "" || gradeOf(key) == ordinary {
			continue
		}
		start := i + 1
		if start < len(text) && (text[start] == '=' || text[start] == '>') {
			start++
		}
		for start < len(text) && blank(text[start]) {
			start++
		}
		if s := valueAt(text[:valueLimit(text, key, start)], start); s.start < s.end && !computed(text[s.start:s.end]) && names(key, text[s.start:s.end]) {
			found = append(found, s)
			i = s.end - 1
		}
	}
	return found
}

// appendFlags appends the values that follow a flag and a blank, as in
// "--password abc".
func appendFlags(found []span, text string, names namer) []span {
	for i := 0; i < len(text) && len(found) <= maxParts; i++ {
		if text[i] != '-' || i > 0 && !blank(text[i-1]) && text[i-1] != '\n' {
			continue
		}
		start := i
		for start < len(text) && text[start] == '-' {
			start++
		}
		end := start
		for end < len(text) && inKey(text[end]) {
			end++
		}
		value := end
		for value < len(text) && blank(text[value]) {
			value++
		}
		if end == start || value == end || value == len(text) || text[value] == '-' || gradeOf(text[start:end]) == ordinary {
			continue
		}
		if s := valueAt(text[:valueLimit(text, text[start:end], value)], value); s.start < s.end && !computed(text[s.start:s.end]) && names(text[start:end], text[s.start:s.end]) {
			found = append(found, s)
			i = s.end - 1
		}
	}
	return found
}

// valueLimit returns the end of the text in which the end of a key's value is searched.
// Keys that do not name a secret may follow each other at once, and the values that
// decide have to be read for each.
func valueLimit(text, key string, start int) int {
	const longest = 1 << 10
	if namesSecret(key) {
		return len(text)
	}
	return min(len(text), start+longest)
}

// keyBefore returns the key that ends before the sign at i, without quotes and
// blanks; "" if there is none.
func keyBefore(text string, i int) string {
	for i > 0 && blank(text[i-1]) {
		i--
	}
	if i > 0 && (text[i-1] == '"' || text[i-1] == '\'') {
		i--
		if i > 0 && text[i-1] == '\\' { // JSON in a JSON string
			i--
		}
	}
	start := i
	for start > 0 && inKey(text[start-1]) {
		start--
	}
	return text[start:i]
}

// valueAt returns the value that begins at start. It ends with its quotes or, without
// quotes, at a blank or separator. A value that is filled in elsewhere is returned as
// empty: finding the end of one for every key before it could take very long.
func valueAt(text string, start int) span {
	if start >= len(text) || startsComputed(text[start:]) {
		return span{start, start}
	}
	quote := text[start]
	switch {
	case quote == '\\' && start+1 < len(text) && text[start+1] == '"':
		if end := strings.Index(text[start+2:], `\"`); end >= 0 {
			return span{start + 2, start + 2 + end}
		}
	case quote == '"' || quote == '\'':
		for end := start + 1; end < len(text) && text[end] != '\n'; end++ {
			if text[end] == quote {
				return span{start + 1, end}
			}
			if text[end] == '\\' && quote == '"' {
				end++
			}
		}
		start++ // The closing quote is cut off.
	case strings.IndexByte("{}[]", quote) >= 0:
		return span{start, start}
	}
	end := start
	for end < len(text) && strings.IndexByte(" \t\r\n\"',;&", text[end]) < 0 {
		end++
	}
	return span{start, end}
}

func blank(b byte) bool { return b == ' ' || b == '\t' }

func inKey(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '.' || b == '-'
}
