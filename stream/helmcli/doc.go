// Package helmcli runs the helm command line in the background.
//
// helm runs under a supervisor, not under helmtrail: the same binary, started again
// in a process session of its own. The supervisor owns helm's pipe, its process
// group and its deadline. It writes every line of output, and finally helm's exit,
// to the session's private folder. When helmtrail is killed or replaced, helm goes
// on, and the next helmtrail reads the folder from where the session's log ends.
//
// A session's folder has these files, each readable by its owner only:
//
//	session.json  the session and its request, without values
//	values.yaml   the values
//	kubeconfig    the credentials
//	chart.tgz     the chart, if it was fetched or uploaded
//	secrets.json  the secrets to mask in the output
//	run.json      command line, environment and deadline for the supervisor
//	launch.json   the release before helm was run
//	lock          held by the supervisor for as long as it lives
//	spool         helm's output, one JSON object per line
//	helm.json     helm's process
//	stop.json     the request to stop helm, or that it exited by itself
//	end.json      helm's exit
//	rendered.json the output of a dry run
//	home/         helm's home, cache and configuration
//	work/         where helm runs, empty
//
// The folder is removed when the session's end is stored.
package helmcli
