package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// TokenError is returned for submitted values with a token for which there is no
// value at the same path.
type TokenError struct {
	// Path is the path of the token, such as "db.password".
	Path string
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("%s holds a masked value that does not stand there in the revision that the values come from; give the value itself, or leave the key out", e.Path)
}

// Restore puts the secrets back into submitted values, in JSON or YAML, that were masked
// by s. Each token is replaced by the value at the same path in one of the bases. These
// are JSON and are tried in order: the values of the revision that was edited, then its
// merged values if those were shown. A token at any other path is rejected with a
// *TokenError, so that nobody can move a secret to a place where it is readable.
//
// Values without tokens are returned unchanged. Others keep their format, JSON or YAML,
// but YAML is encoded again.
func (s *Secrets) Restore(submitted []byte, schema []byte, bases ...json.RawMessage) ([]byte, error) {
	if !Masked(string(submitted)) && !bytes.ContainsRune(submitted, '\\') {
		return submitted, nil
	}
	root, err := tree.FromJSON(submitted)
	roots, isJSON := []*yaml.Node{root}, err == nil
	if !isJSON {
		roots, err = tree.FromYAML(string(submitted))
	}
	// A token may be written with escapes, so only the tree shows it.
	if !slices.ContainsFunc(roots, holdsToken) && !Masked(string(submitted)) {
		return submitted, nil
	}
	if err != nil {
		return nil, fmt.Errorf("restore masked values: %w", err)
	}
	var shown []map[string]*yaml.Node
	for _, base := range bases {
		scalars, err := s.shown(base, schema)
		if err != nil {
			return nil, fmt.Errorf("restore masked values: base: %w", err)
		}
		shown = append(shown, scalars)
	}
	for _, root := range roots {
		if err := s.restore(root, schema, shown); err != nil {
			return nil, err
		}
	}
	if isJSON {
		return tree.JSON(root)
	}
	text, err := tree.YAML(roots...)
	return []byte(text), err
}

// holdsToken reports whether a scalar of the tree holds a token.
func holdsToken(node *yaml.Node) bool {
	return Masked(node.Value) || slices.ContainsFunc(node.Content, holdsToken)
}

// shown returns the scalars of a base by their paths.
func (s *Secrets) shown(base json.RawMessage, schema []byte) (map[string]*yaml.Node, error) {
	root, err := tree.FromJSON(base)
	if err != nil {
		return nil, err
	}
	scalars := map[string]*yaml.Node{}
	w := walker{label: func(*yaml.Node, string) {}}
	w.leaf = func(node *yaml.Node, at place) { scalars[at.path] = node }
	w.walk(root, place{schemas: newSchemas(schema)})
	return scalars, nil
}

// restore replaces the tokens in a submitted tree.
func (s *Secrets) restore(root *yaml.Node, schema []byte, shown []map[string]*yaml.Node) error {
	var failed error
	refuse := func(path string) {
		if failed == nil {
			failed = &TokenError{path}
		}
	}
	w := walker{}
	w.label = func(node *yaml.Node, path string) {
		if Masked(node.Value) {
			refuse(tree.Join(path, node.Value))
		}
	}
	w.leaf = func(node *yaml.Node, at place) {
		if !Masked(node.Value) {
			return
		}
		for _, scalars := range shown {
			if base := scalars[at.path]; base != nil && s.restoreScalar(node, base, at) {
				return
			}
		}
		refuse(at.path)
	}
	w.walk(root, place{schemas: newSchemas(schema)})
	return failed
}

// restoreScalar replaces the tokens of a scalar by the base's values. It returns
// false if a token does not come from the base.
func (s *Secrets) restoreScalar(node, base *yaml.Node, at place) bool {
	masked := s.scalar(base, at)
	if node.Value == masked {
		node.Value, node.Tag = base.Value, base.Tag
		node.Style = 0
		return true
	}
	pieces := s.pieces(base, at)
	whole := true
	restored := tokens.ReplaceAllStringFunc(node.Value, func(token string) string {
		piece := pieces[token]
		whole = whole && piece != ""
		return piece
	})
	if !whole || Masked(restored) {
		return false
	}
	node.Value = restored
	return true
}

// pieces returns the masked parts of a base's scalar by their tokens, "" for a token
// that stands for several spellings of a secret.
func (s *Secrets) pieces(base *yaml.Node, at place) map[string]string {
	pieces := map[string]string{}
	if hidden(base, at) {
		pieces[s.scalar(base, at)] = base.Value
		return pieces
	}
	s.mendEach(at.path, base.Value, s.known.find(base.Value), find(base.Value, assignsSecret), func(piece, token string) {
		if known, ok := pieces[token]; ok && known != piece {
			piece = ""
		}
		pieces[token] = piece
	})
	return pieces
}
