package decoder

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// secretPrefix is the prefix of the names of Helm's Secrets. The release's
// name, ".v" and the revision follow (helm.sh/helm/v3/pkg/storage/storage.go,
// makeKey).
const secretPrefix = "sh.helm.release.v1."

// Identify returns the release name and the revision number of a Secret. It
// uses the labels, otherwise the record, otherwise the Secret's name.
// recordName and recordVersion are "" and 0 if the record lacks them or was not
// read. ok is false if the name or the number cannot be determined.
func Identify(secretName string, labels map[string]string, recordName string, recordVersion int) (name string, number int, ok bool) {
	nameOfSecret, numberOfSecret := splitSecretName(secretName)
	name, number = labels["name"], revisionNumber(labels["version"])
	if name == "" {
		name = recordName
	}
	if name == "" {
		name = nameOfSecret
	}
	if number == 0 {
		number = max(recordVersion, 0)
	}
	if number == 0 {
		number = numberOfSecret
	}
	return name, number, name != "" && number != 0
}

// SecretName returns the name of the Secret in which Helm keeps a revision.
func SecretName(release string, revision int) string {
	return secretPrefix + release + ".v" + strconv.Itoa(revision)
}

// splitSecretName is the inverse of [SecretName]. It returns "" and 0 for any
// other name. A release's name may itself contain dots and ".v2"; only the last
// ".vN" is the revision.
func splitSecretName(secretName string) (name string, number int) {
	rest, ok := strings.CutPrefix(secretName, secretPrefix)
	i := strings.LastIndex(rest, ".v")
	if !ok || i < 0 {
		return "", 0
	}
	if number = revisionNumber(rest[i+len(".v"):]); number == 0 {
		return "", 0
	}
	return rest[:i], number
}

// revisionNumber parses a number as written by Helm. It returns 0 for any other
// text.
func revisionNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || strconv.Itoa(n) != text {
		return 0
	}
	return n
}

// CustomLabels returns a Secret's labels without the ones reserved by Helm
// (helm.sh/helm/v3/pkg/storage/driver/labels.go), or nil if no labels remain.
func CustomLabels(labels map[string]string) map[string]string {
	var custom map[string]string
	for key, value := range labels {
		switch key {
		case "name", "owner", "status", "version", "createdAt", "modifiedAt":
			continue
		}
		if custom == nil {
			custom = map[string]string{}
		}
		custom[key] = value
	}
	return custom
}

// Secret holds the input of NewRevision except the record's bytes.
type Secret struct {
	Namespace, Name, UID, ResourceVersion string
	Created                               time.Time
	Labels                                map[string]string
}

// NewRevision describes one state of a release Secret. data is the value of its
// `release` key, nil if it has not been read; NewRevision does not retain it. A
// record that cannot be decoded yields a revision with a Problem. ok is false
// only if the labels, the record and the name do not identify the revision.
func NewRevision(secret Secret, data []byte, limits Limits) (revision *Revision, ok bool) {
	r := &Revision{
		Namespace:   secret.Namespace,
		Secret:      SecretRef{Name: secret.Name, UID: secret.UID, ResourceVersion: secret.ResourceVersion},
		Created:     secret.Created,
		LabelStatus: Status(secret.Labels["status"]),
		Session:     secret.Labels[SessionLabel],
	}
	var recordName string
	var recordVersion int
	if data != nil {
		sum := sha256.Sum256(data)
		r.Digest, r.Size = hex.EncodeToString(sum[:]), len(data)
		want := headerFields
		if revisionNumber(secret.Labels["version"]) == 0 {
			want |= fieldVersion
		}
		header, version, err := decodeHeader(data, limits, want)
		if err != nil {
			r.Problem = err.Error()
		} else {
			r.Header, recordName, recordVersion = header, header.Name, version
		}
	}
	r.Name, r.Number, ok = Identify(secret.Name, secret.Labels, recordName, recordVersion)
	if !ok {
		return nil, false
	}
	return r, true
}
