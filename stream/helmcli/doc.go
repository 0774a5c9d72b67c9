// Package helmcli runs the helm command line in the background.
//
// helm does not run under helmtrail but under a supervisor: the same binary
// executed again in a process session of its own. The supervisor owns helm's
// pipe, its process group and its clock. It writes every line of output, and
// at last how helm ended, into the session's private folder, and needs nobody
// for that: when helmtrail is killed or replaced, helm goes on, and the next
// helmtrail reads the folder from where the session's log ends.
//
// A session's folder holds, each file readable by its owner alone:
//
//	session.json  the session and its request, without values
//	values.yaml   the values
//	kubeconfig    the credentials
//	secrets.json  what the output is masked by
//	run.json      command line, environment and deadline for the supervisor
//	launch.json   what was known about the release before helm ran
//	lock          held by the supervisor for as long as it lives
//	spool         helm's output, one JSON object a line
//	helm.json     helm's process
//	stop.json     the request to end helm, or that it has ended by itself
//	end.json      how helm ended
//	rendered.json what a dry run has rendered
//	home/         helm's own folders
//	work/         where helm runs, empty
//
// The folder is removed when the session's end is stored.
package helmcli
