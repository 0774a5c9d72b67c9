package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/decoder/parts"
)

// revisionLine is a revision in the output of a command.
type revisionLine struct {
	Namespace        string         `json:"namespace,omitempty"`
	Name             string         `json:"name"`
	Revision         int            `json:"revision"`
	Status           decoder.Status `json:"status"`
	LabelStatus      decoder.Status `json:"labelStatus,omitempty"`
	Chart            string         `json:"chart"`
	ChartVersion     string         `json:"chartVersion"`
	AppVersion       string         `json:"appVersion"`
	Updated          *time.Time     `json:"updated"`
	Description      string         `json:"description"`
	ApplyMethod      string         `json:"applyMethod,omitempty"`
	RollbackRevision int            `json:"rollbackRevision,omitempty"`
	Digest           string         `json:"digest,omitempty"`
	Size             int            `json:"size,omitempty"`
	// Problem is the reason why the record cannot be decoded.
	Problem string `json:"problem,omitempty"`
	// Anomalies are contradictions between the Secret and its record.
	Anomalies []decoder.Anomaly `json:"anomalies,omitempty"`
}

// lineOf describes a revision. record is nil if it cannot be decoded; masker is nil
// if secrets may be shown.
func lineOf(r *decoder.Revision, record *decoder.Record, masker *mask.Masker) revisionLine {
	line := revisionLine{
		Namespace: r.Namespace, Name: r.Name, Revision: r.Number, Status: r.Status(), Digest: r.Digest, Size: r.Size, Problem: r.Problem,
	}
	if record != nil {
		line.Status, line.Chart, line.ChartVersion, line.AppVersion = record.Status, record.Chart, record.ChartVersion, record.AppVersion
		line.Description, line.ApplyMethod, line.RollbackRevision = record.Description, record.ApplyMethod, record.RollbackRevision
		if !record.LastDeployed.IsZero() {
			updated := record.LastDeployed.UTC()
			line.Updated = &updated
		}
		if masker != nil {
			line.Description = masker.Description(record)
		}
		line.Anomalies = decoder.Disagreements(r, record)
	}
	if r.LabelStatus != line.Status {
		line.LabelStatus = r.LabelStatus
	}
	return line
}

// printLines prints a table of revisions, followed by their anomalies. whose adds
// the columns NAMESPACE and NAME.
func printLines(w io.Writer, f outputFormat, lines []revisionLine, whose bool) error {
	if f != asTable {
		return printData(w, f, lines)
	}
	titles := []string{"REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "DESCRIPTION"}
	if whose {
		titles = append([]string{"NAMESPACE", "NAME"}, titles...)
	}
	var rows [][]string
	for _, l := range lines {
		updated, chart := "", l.Chart
		if l.Updated != nil {
			updated = l.Updated.Format(time.RFC3339)
		}
		if l.ChartVersion != "" {
			chart += "-" + l.ChartVersion
		}
		description := l.Description
		if l.Problem != "" {
			description = l.Problem
		}
		row := []string{strconv.Itoa(l.Revision), updated, string(l.Status), chart, l.AppVersion, description}
		if whose {
			row = append([]string{l.Namespace, l.Name}, row...)
		}
		rows = append(rows, row)
	}
	if err := printTable(w, titles, rows); err != nil {
		return err
	}
	for _, l := range lines {
		which := fmt.Sprintf("Revision %d", l.Revision)
		if whose {
			which = fmt.Sprintf("Revision %d of %s/%s", l.Revision, l.Namespace, l.Name)
		}
		for _, odd := range l.Anomalies {
			if _, err := fmt.Fprintln(w, printable(which+": "+odd.Message)); err != nil {
				return err
			}
		}
	}
	return nil
}

// partOptions are the flags that select a part of a record.
type partOptions struct {
	part string
	all  bool
}

// partNames lists the parts that can be printed, in the order of the help text.
var partNames = []parts.Name{parts.Values, parts.Manifest, parts.Hooks, parts.Notes, parts.Metadata, parts.Chart, parts.Raw}

// printPart prints a part of a record, which must be masked already. As a table it
// is what `helm get` prints.
func printPart(w io.Writer, f outputFormat, record *decoder.Record, o partOptions) error {
	name := parts.Name(o.part)
	as := parts.Format(f)
	if f == asTable {
		as = parts.Formats[name][0]
		if name == parts.Values {
			as = parts.Text
		}
	}
	data, err := parts.Write(record, name, parts.Options{As: as, All: o.all})
	if err != nil {
		return err
	}
	if as == parts.JSON {
		data = append(data[:len(data):len(data)], '\n')
	}
	_, err = w.Write(data)
	return err
}
