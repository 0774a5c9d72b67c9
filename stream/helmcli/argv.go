package helmcli

import (
	"maps"
	"strconv"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// arguments returns helm's arguments for a request that passed Check. Names follow
// "--" and values follow "=", so no part of a request can be read as a flag.
func (h *Helm) arguments(session string, request helmtrail.Request, valuesPath string) []string {
	return h.commandLine(session, request, valuesPath, nil, h.chartPath(session, request.Chart))
}

// Command implements stream.Helm. It has the chart as the caller named it, and no
// private file of the server.
func (h *Helm) Command(session string, request helmtrail.Request) []string {
	shown := ""
	if len(request.Values) > 0 {
		shown = "(private)"
	}
	flags, ref := h.shownChart(request.Chart)
	return append([]string{"helm"}, h.commandLine(session, request, shown, flags, ref)...)
}

// commandLine assembles helm's arguments.
func (h *Helm) commandLine(session string, request helmtrail.Request, valuesPath string, chartFlags []string, chartRef string) []string {
	release := request.Release
	args := []string{string(request.Operation), "--debug", "--namespace=" + release.Namespace}
	switch request.Operation {
	case helmtrail.OperationInstall, helmtrail.OperationUpgrade:
		request.Options.Labels = maps.Clone(request.Options.Labels)
		if request.Options.Labels == nil {
			request.Options.Labels = map[string]string{}
		}
		request.Options.Labels[decoder.SessionLabel] = session
		args = append(args, h.flags(request)...)
		if valuesPath != "" {
			args = append(args, "--values="+valuesPath)
		}
		args = append(args, chartFlags...)
		return append(args, "--", release.Name, chartRef)
	case helmtrail.OperationRollback:
		args = append(args, h.flags(request)...)
		return append(args, "--", release.Name, strconv.Itoa(request.Revision))
	default:
		args = append(args, h.flags(request)...)
		return append(args, "--", release.Name)
	}
}
