package helmcli

import (
	"strings"

	"github.com/helmtrail/helmtrail"
)

// shownPath is what is shown instead of a path of the server.
type shownPath struct{ Path, Shown string }

// shownPaths returns the paths of the server that helm may print, or that an error
// about the session may name. Longer ones precede those that they begin with.
func (p *Process) shownPaths() []shownPath {
	paths := []shownPath{{p.folder.path(archiveFile), p.request.Chart.Ref}}
	switch p.request.Operation {
	case helmtrail.OperationInstall, helmtrail.OperationUpgrade:
		paths = append(paths, shownPath{p.helm.chartPath(p.session.ID, p.request.Chart), p.request.Chart.Ref})
	}
	return append(paths,
		shownPath{string(p.folder) + "/", ""}, shownPath{string(p.folder), "the session's folder"},
		shownPath{p.helm.config.Folder, "the sessions' folder"}, shownPath{p.helm.path, "helm"},
	)
}

// hidePaths replaces the paths in a text by what is shown instead.
func hidePaths(text string, paths []shownPath) string {
	for _, p := range paths {
		if p.Path == "" || !strings.Contains(text, p.Path) {
			continue
		}
		var out strings.Builder
		for {
			before, after, found := strings.Cut(text, p.Path)
			out.WriteString(before)
			if !found {
				break
			}
			if endsInPath(out.String()) {
				out.WriteString(p.Path) // the end of another path, or of a URL
			} else {
				out.WriteString(p.Shown)
			}
			text = after
		}
		text = out.String()
	}
	return text
}

// endsInPath reports whether the last character may belong to a path.
func endsInPath(text string) bool {
	if text == "" {
		return false
	}
	c := text[len(text)-1]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
}
