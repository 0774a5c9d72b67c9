// Package tree reads JSON and YAML into one kind of tree and writes it again,
// without losing a digit of a number or the order of a mapping's keys.
//
// A tree is made of [yaml.Node]: the nodes keep every scalar as the text that
// was read. The size of trees and of the text they become is limited, since a
// few kilobytes of a compressed record can stand for gigabytes of nodes. The
// package is pure. Its functions may be called concurrently, but not on a tree
// that is being changed.
package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The tags of scalars that come from JSON.
const (
	Null   = "!!null"
	Bool   = "!!bool"
	Int    = "!!int"
	Float  = "!!float"
	String = "!!str"
)

// Scalar returns a node of one text.
func Scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// FromJSON reads exactly one JSON value; nothing at all is null. It fails with
// ErrTooLarge for more than MaxNodes nodes. Its errors quote nothing of the
// content.
func FromJSON(data []byte) (*yaml.Node, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Scalar(Null, "null"), nil
	}
	if !json.Valid(data) {
		return nil, errors.New("not valid JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	room := MaxNodes
	return readJSON(decoder, &room)
}

// readJSON reads one value. room is how many more nodes may be made.
func readJSON(decoder *json.Decoder, room *int) (*yaml.Node, error) {
	if *room--; *room < 0 {
		return nil, ErrTooLarge
	}
	token, err := decoder.Token()
	if err != nil {
		return nil, errors.New("not valid JSON")
	}
	switch value := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if value == '[' {
			node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
		}
		for decoder.More() {
			item, err := readJSON(decoder, room)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, item)
		}
		_, err := decoder.Token()
		return node, err
	case string:
		return Scalar(String, value), nil
	case json.Number:
		if strings.ContainsAny(value.String(), ".eE") {
			return Scalar(Float, value.String()), nil
		}
		return Scalar(Int, value.String()), nil
	case bool:
		return Scalar(Bool, strconv.FormatBool(value)), nil
	default:
		return Scalar(Null, "null"), nil
	}
}

// Documents cuts YAML before every line that begins a document. It does not
// parse, so that a document that is not valid YAML does not affect the others.
func Documents(text string) []string {
	const marker = "\n---"
	var documents []string
	begin := 0
	for at := 0; ; {
		next := strings.Index(text[at:], marker)
		if next < 0 {
			break
		}
		line := at + next + 1
		at += next + len(marker)
		if at == len(text) || strings.IndexByte(" \t\r\n", text[at]) >= 0 {
			documents = append(documents, text[begin:line])
			begin = line
		}
	}
	if begin < len(text) {
		documents = append(documents, text[begin:])
	}
	return documents
}

// FromYAML reads every YAML document in text, aliases and comments as they
// stand. It fails with ErrTooLarge for text that does not fit. Its errors quote
// nothing of the content.
func FromYAML(text string) (documents []*yaml.Node, err error) {
	if !Fits(text) {
		return nil, ErrTooLarge
	}
	// The parser reports some malformed input by panicking.
	defer func() {
		if recover() != nil {
			documents, err = nil, errors.New("not valid YAML")
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, errors.New("not valid YAML")
		}
		documents = append(documents, &document)
	}
}

// JSON writes a tree that FromJSON read, without indentation. It fails with
// ErrTooLarge for more than MaxText bytes.
func JSON(node *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	if err := writeJSON(&out, node); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, node *yaml.Node) error {
	if out.Len()+len(node.Value) > MaxText {
		return fmt.Errorf("write a tree as JSON: %w", ErrTooLarge)
	}
	switch node.Kind {
	case yaml.MappingNode:
		return writeList(out, '{', node, func(i int) error {
			if i%2 == 0 {
				return writeString(out, node.Content[i].Value)
			}
			return writeJSON(out, node.Content[i])
		})
	case yaml.SequenceNode:
		return writeList(out, '[', node, func(i int) error { return writeJSON(out, node.Content[i]) })
	case yaml.ScalarNode:
		if node.Tag == String {
			return writeString(out, node.Value)
		}
		if !json.Valid([]byte(node.Value)) {
			return fmt.Errorf("write a %s as JSON: it has no such form", node.Tag)
		}
		out.WriteString(node.Value)
		return nil
	}
	return errors.New("write a tree as JSON: it has aliases")
}

func writeList(out *bytes.Buffer, open byte, node *yaml.Node, item func(i int) error) error {
	out.WriteByte(open)
	for i := range node.Content {
		if i > 0 {
			separator := byte(',')
			if node.Kind == yaml.MappingNode && i%2 == 1 {
				separator = ':'
			}
			out.WriteByte(separator)
		}
		if err := item(i); err != nil {
			return err
		}
	}
	out.WriteByte(open + 2) // In ASCII, } comes two places after {, and ] after [.
	return nil
}

func writeString(out *bytes.Buffer, text string) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1)
	return nil
}

// YAML writes documents in block style, with a line of "---" between them.
// Strings that YAML 1.1, which Helm and Kubernetes read, takes for something
// else are quoted. It fails with ErrTooLarge for more than MaxText bytes.
func YAML(documents ...*yaml.Node) (string, error) {
	var out bytes.Buffer
	limited := &limitedWriter{w: &out, room: MaxText}
	encoder := yaml.NewEncoder(limited)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	for _, document := range documents {
		plain(document)
		if err := encoder.Encode(document); err != nil {
			if limited.room < 0 {
				return "", fmt.Errorf("write a tree as YAML: %w", ErrTooLarge)
			}
			return "", errors.New("write a tree as YAML: it has no such form")
		}
	}
	if err := encoder.Close(); err != nil {
		return "", errors.New("write a tree as YAML: it has no such form")
	}
	return out.String(), nil
}

var (
	oldBools   = []string{"y", "yes", "on", "n", "no", "off"}
	sexagesims = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
)

// plain prepares a tree for the encoder: it quotes the strings that YAML 1.1
// would read as another type, and removes the tags of numbers, since the
// encoder would write them before those of more than 64 bits.
func plain(node *yaml.Node) {
	for _, inner := range node.Content {
		plain(inner)
	}
	if node.Kind != yaml.ScalarNode || node.Style != 0 {
		return
	}
	switch node.Tag {
	case String:
		if slices.Contains(oldBools, strings.ToLower(node.Value)) || sexagesims.MatchString(node.Value) {
			node.Style = yaml.DoubleQuotedStyle
		}
	case Int, Float:
		node.Tag = ""
	}
}

// Get returns a mapping's value for a key, or nil if node is not a mapping or
// does not have the key. It is linear in the mapping's size.
func Get(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// Join returns the path of a mapping's key below path, as people write it:
// "db.password". An ambiguous key is in brackets and quotes. A path of more than
// a kilobyte is shortened to its beginning and a hash.
func Join(path, key string) string {
	key = short(key)
	if key == "" || strings.ContainsAny(key, `.[]"`) {
		return short(path + "[" + strconv.Quote(key) + "]")
	}
	if path == "" {
		return key
	}
	return short(path + "." + key)
}

// Item returns the path of a list's item below path, as Join does.
func Item(path string, index int) string { return short(path + "[" + strconv.Itoa(index) + "]") }
