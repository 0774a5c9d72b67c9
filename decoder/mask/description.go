package mask

import (
	"regexp"

	"github.com/helmtrail/helmtrail/decoder"
)

// plain are the sentences that Helm writes of its own accord
// (helm.sh/helm/v4/pkg/action). All others may quote an error, and that a value.
var plain = regexp.MustCompile(`^(Install complete|Upgrade complete|Initial install underway|Preparing upgrade|Rollback to \d+|Uninstallation complete|Deletion in progress.*)?$`)

// Plain tells that a revision's description quotes nothing, so that it need not
// be masked.
func Plain(description string) bool { return plain.MatchString(description) }

// Description is a record's description with what it quotes of the record's
// secrets masked. A plain one costs nothing.
func (m *Masker) Description(record *decoder.Record) string {
	if Plain(record.Description) {
		return record.Description
	}
	return m.Collect(FromRecord(record)).Text(record.Description)
}
