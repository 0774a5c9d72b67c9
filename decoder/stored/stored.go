// Package stored finds release records in files: in Secrets and ConfigMaps as
// printed by kubectl, in lists of them, or alone and encoded in any of the usual
// ways. The package is pure; its functions may be called concurrently.
package stored

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	yamldocuments "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
)

// Record is a record found in a file.
type Record struct {
	// Item identifies the object in the file.
	Item     string
	Revision *decoder.Revision
	// Record is nil if it cannot be read.
	Record *decoder.Record
}

// ErrNoRecord means that the content has no record.
var ErrNoRecord = errors.New("there is no helm record in it")

// Read returns the records in the content of a file one by one, so that few of
// them are in memory. An error describes a problem of one item. It names the item
// and quotes nothing. It may come with a record or alone, and later items are
// still read. If there is no record, Read returns at least one error.
func Read(content []byte) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if data := bareRecord(content); data != nil {
			yield(storedRecord("record", objectMeta{}, data))
			return
		}
		f := finding{yield: yield}
		next := documentsOf(content)
		for n := 1; !f.over; n++ {
			document, err := next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				// The parser's error may quote the content.
				f.tell(nil, fmt.Errorf("document %d: is neither YAML nor JSON, or has a key twice", n))
				break
			}
			if len(document) > 0 && string(document) != "null" {
				f.object(fmt.Sprintf("document %d", n), document)
			}
		}
		if f.over || f.found {
			return
		}
		for _, problem := range append([]error{ErrNoRecord}, f.others...) {
			if f.tell(nil, problem); f.over {
				return
			}
		}
	}
}

// finding passes results to the caller.
type finding struct {
	yield func(*Record, error) bool
	// found means that a result was returned, over that the caller wants no more.
	found, over bool
	// others are the objects without a record.
	others []error
}

func (f *finding) tell(record *Record, problem error) {
	f.found = true
	f.over = !f.yield(record, problem)
}

// documentsOf returns a function that returns the documents as JSON one by one,
// and io.EOF after the last one.
func documentsOf(content []byte) func() (json.RawMessage, error) {
	var first json.RawMessage
	if json.NewDecoder(bytes.NewReader(content)).Decode(&first) == nil && bytes.HasPrefix(first, []byte("{")) {
		documents := json.NewDecoder(bytes.NewReader(content))
		return func() (document json.RawMessage, err error) { return document, documents.Decode(&document) }
	}
	documents := yamldocuments.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	return func() (json.RawMessage, error) {
		document, err := documents.Read()
		if err != nil {
			return nil, err
		}
		return yaml.YAMLToJSONStrict(document)
	}
}

// bareRecord returns a record that is stored alone, in Helm's own form, or nil if the
// content is something else.
func bareRecord(content []byte) []byte {
	trimmed := bytes.TrimSpace(content)
	if isRecord(trimmed) {
		return []byte(base64.StdEncoding.EncodeToString(trimmed))
	}
	once, ok := fromBase64(trimmed)
	switch {
	case !ok:
		return nil
	case isRecord(once):
		return trimmed
	}
	if twice, ok := fromBase64(bytes.TrimSpace(once)); ok && isRecord(twice) {
		return once
	}
	return nil
}

// isRecord reports whether data is compressed, or JSON that is not a Kubernetes object.
func isRecord(data []byte) bool {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return true
	}
	var object struct {
		Kind       *string         `json:"kind"`
		APIVersion *string         `json:"apiVersion"`
		Info       json.RawMessage `json:"info"`
		Name       json.RawMessage `json:"name"`
	}
	return bytes.HasPrefix(data, []byte("{")) && json.Unmarshal(data, &object) == nil &&
		object.Kind == nil && object.APIVersion == nil && (object.Info != nil || object.Name != nil)
}

func fromBase64(data []byte) ([]byte, bool) {
	compact := bytes.Join(bytes.Fields(data), nil)
	plain := make([]byte, base64.StdEncoding.DecodedLen(len(compact)))
	n, err := base64.StdEncoding.Decode(plain, compact)
	return plain[:n], err == nil
}

// objectMeta has the metadata that identifies the revision of an object.
type objectMeta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	Labels            map[string]string `json:"labels"`
}

// object finds the records in one object, or in those of a list.
func (f *finding) object(item string, document []byte) {
	var object struct {
		Kind       string            `json:"kind"`
		Type       string            `json:"type"`
		Metadata   objectMeta        `json:"metadata"`
		Items      []json.RawMessage `json:"items"`
		Data       map[string]string `json:"data"`
		StringData map[string]string `json:"stringData"`
	}
	if json.Unmarshal(document, &object) != nil {
		f.tell(nil, fmt.Errorf("%s: is no object of Kubernetes", item))
		return
	}
	if strings.HasSuffix(object.Kind, "List") {
		for i, one := range object.Items {
			if f.object(fmt.Sprintf("item %d", i+1), one); f.over {
				return
			}
		}
		return
	}
	item = fmt.Sprintf("%s (%s %s)", item, object.Kind, strings.TrimPrefix(object.Metadata.Namespace+"/"+object.Metadata.Name, "/"))
	release, exists := object.Data["release"]
	var data []byte
	other := func(what string, args ...any) {
		f.others = append(f.others, fmt.Errorf("%s: "+what, append([]any{item}, args...)...))
	}
	switch {
	case object.Kind == "Secret" && object.Type == decoder.SecretType:
		if text, ok := object.StringData["release"]; ok {
			data = []byte(text)
			break
		}
		plain, ok := fromBase64([]byte(release))
		if exists && !ok {
			f.tell(nil, fmt.Errorf("%s: its data is not base64", item))
			return
		}
		data = plain
	case object.Kind == "ConfigMap" && object.Metadata.Labels["owner"] == "helm":
		data = []byte(release)
	case object.Kind == "Secret":
		other("is of type %q", object.Type)
		return
	case object.Kind == "ConfigMap":
		other("does not have the label owner=helm")
		return
	default:
		other("is neither a Secret nor a ConfigMap")
		return
	}
	if len(data) == 0 {
		f.tell(nil, fmt.Errorf("%s: has no record under the key release", item))
		return
	}
	f.tell(storedRecord(item, object.Metadata, data))
}

// storedRecord decodes a record. If that fails, it returns a revision from the
// metadata, or nil if the metadata does not identify one.
func storedRecord(item string, m objectMeta, data []byte) (*Record, error) {
	s := &Record{Item: item}
	s.Revision, _ = decoder.NewRevision(decoder.Secret{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Created: m.CreationTimestamp, Labels: m.Labels,
	}, data, decoder.Limits{})
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		err = fmt.Errorf("%s: %w", item, err)
		if s.Revision == nil {
			return nil, err
		}
		return s, err
	}
	if s.Revision == nil {
		// The file does not say which revision it is. The record is shown nevertheless.
		s.Revision = &decoder.Revision{Namespace: m.Namespace, Name: record.Name, Number: record.Version, Header: &record.Header}
	}
	s.Revision.Namespace = cmp.Or(s.Revision.Namespace, record.Namespace)
	record.SecretNamespace, record.Labels = s.Revision.Namespace, decoder.CustomLabels(m.Labels)
	record.Digest, record.Size = s.Revision.Digest, s.Revision.Size
	s.Record = record
	return s, nil
}
