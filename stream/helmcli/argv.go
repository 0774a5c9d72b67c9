package helmcli

import (
	"maps"
	"strconv"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// arguments returns helm's arguments for a request that passed Check. Names
// stand behind "--" and values behind "=", so nothing of a request can be read
// as a flag.
func (h *Helm) arguments(session string, request stream.Request, valuesPath string) []string {
	release := request.Release
	args := []string{string(request.Operation), "--debug", "--namespace=" + release.Namespace}
	switch request.Operation {
	case stream.OperationInstall, stream.OperationUpgrade:
		request.Options.Labels = maps.Clone(request.Options.Labels)
		if request.Options.Labels == nil {
			request.Options.Labels = map[string]string{}
		}
		request.Options.Labels[decoder.SessionLabel] = session
		args = append(args, h.flags(request)...)
		if valuesPath != "" {
			args = append(args, "--values="+valuesPath)
		}
		if request.Chart.Repo != "" {
			args = append(args, "--repo="+request.Chart.Repo)
		}
		if request.Chart.Version != "" {
			args = append(args, "--version="+request.Chart.Version)
		}
		return append(args, "--", release.Name, h.chartArgument(request.Chart))
	case stream.OperationRollback:
		args = append(args, h.flags(request)...)
		return append(args, "--", release.Name, strconv.Itoa(request.Revision))
	default:
		args = append(args, h.flags(request)...)
		return append(args, "--", release.Name)
	}
}

// Command implements stream.Helm: the command line with the values' place
// instead of their path, which nobody outside could use.
func (h *Helm) Command(session string, request stream.Request) []string {
	shown := ""
	if len(request.Values) > 0 {
		shown = "(private)"
	}
	return append([]string{"helm"}, h.arguments(session, request, shown)...)
}
