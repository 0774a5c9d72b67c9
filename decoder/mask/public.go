package mask

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// public has the names that anybody may see: of the release, its chart and objects,
// their containers, images, users and databases, and of all keys. A secret that equals
// one of them, or some of its words, is weak. It is not searched for in texts: the
// masks would make them unreadable, and would betray the secret, since the names are
// known. It is built once and then only read.
type public struct {
	// index has the names and their parts, folded.
	index *known
	// names has the names as they are, and false for those that were left out.
	names map[string]bool
}

func newPublic() *public { return &public{index: newKnown(), names: map[string]bool{}} }

const (
	// maxPublicWords bounds the number of words of a part of a name.
	maxPublicWords = 5
	// longestPublic bounds a name, in bytes.
	longestPublic = 253
)

// publicName matches a name, also of an image.
var publicName = regexp.MustCompile(`^[A-Za-z0-9_][\w.:/@-]*$`)

// add adds a name and the sequences of its words. Names that look random are left out:
// a chart may put a secret where a name is expected.
func (p *public) add(name string) {
	if _, known := p.names[name]; known || len(name) < minKnown || len(name) > longestPublic || p.index.full {
		return
	}
	p.names[name] = publicName.MatchString(name) && !looksRandom(name)
	if !p.names[name] {
		return
	}
	list := words(name)
	for i := range list {
		part := ""
		for _, word := range list[i:min(len(list), i+maxPublicWords)] {
			part += word
			p.index.put(part, part)
		}
	}
	whole := fold(name)
	p.index.put(whole, whole)
}

// has reports whether a text is a public name, or consists of words of one.
func (p *public) has(text string) bool {
	return len(text) <= longestPublic && p.index.tokens[fold(text)] != ""
}

// maxAround bounds the number of separators on either side of a part that are tried
// as the ends of a public name.
const maxAround = 8

// covers reports whether a part of a text belongs to a public name that is there between
// separators, as "redis" does in "web-redis-0".
func (p *public) covers(text string, at span) bool {
	starts, ends := p.around(text, at)
	for _, start := range starts {
		for _, end := range ends {
			if end-start <= longestPublic && p.names[text[start:end]] {
				return true
			}
		}
	}
	return false
}

// around returns the offsets before and behind a part at which a name that includes
// it may begin and end.
func (p *public) around(text string, at span) (starts, ends []int) {
	for i := at.start; len(starts) < maxAround && at.start-i < longestPublic; i-- {
		if i == 0 || kindOf(text[i-1]) == 0 {
			starts = append(starts, i)
		}
		if i == 0 || !inKey(text[i-1]) {
			break
		}
	}
	for i := at.end; len(ends) < maxAround && i-at.end < longestPublic; i++ {
		if i == len(text) || kindOf(text[i]) == 0 {
			ends = append(ends, i)
		}
		if i == len(text) || !inKey(text[i]) {
			break
		}
	}
	return starts, ends
}

// parts returns the parts of folded letters that are public names.
func (p *public) parts(letters string) []part { return p.index.exact(letters) }

// publicWords are last words of keys whose values are names.
var publicWords = []string{
	"name", "names", "namespace", "kind", "image", "repository", "registry", "user", "username", "users", "usernames", "database", "databases",
	"dbname", "db", "host", "hostname", "bucket", "instance", "component", "app", "chart", "container", "service", "secret", "key",
}

// addLeaf adds the value of a scalar that is shown, if it is a name by its key.
func (p *public) addLeaf(node *yaml.Node, at place) {
	if _, known := p.names[node.Value]; known || len(node.Value) < minKnown || len(node.Value) > longestPublic {
		return
	}
	list := words(at.key)
	if slices.Contains(publicWords, list[len(list)-1]) && !strings.Contains(node.Value, "://") {
		p.add(node.Value)
	}
}
