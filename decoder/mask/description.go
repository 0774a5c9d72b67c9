package mask

import (
	"regexp"

	"github.com/helmtrail/helmtrail/decoder"
)

// plain matches the sentences that Helm itself writes (helm.sh/helm/v4/pkg/action). Any
// other description may quote an error, and with it a value.
var plain = regexp.MustCompile(`^(Install complete|Upgrade complete|Initial install underway|Preparing upgrade|Rollback to \d+|Uninstallation complete|Deletion in progress.*)?$`)

// Plain reports whether a revision's description is one of Helm's own sentences, which
// quote nothing and need no masking.
func Plain(description string) bool { return plain.MatchString(description) }

// Description returns a record's description with the record's secrets masked. It
// returns a plain description at once.
func (m *Masker) Description(record *decoder.Record) string {
	if Plain(record.Description) {
		return record.Description
	}
	return m.Collect(FromRecord(record)).Text(record.Description)
}
