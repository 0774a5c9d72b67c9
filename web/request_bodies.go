package web

import (
	"encoding/json"

	"github.com/helmtrail/helmtrail/stream"
)

type upgradeBody struct {
	Chart      stream.Chart    `json:"chart"`
	Values     json.RawMessage `json:"values"`
	ValuesYAML string          `json:"valuesYAML"`
	Options    stream.Options  `json:"options"`
}

// installBody repeats the fields of upgradeBody instead of embedding it, since
// encoding/json would name the embedded struct in its errors.
type installBody struct {
	Name       string          `json:"name"`
	Chart      stream.Chart    `json:"chart"`
	Values     json.RawMessage `json:"values"`
	ValuesYAML string          `json:"valuesYAML"`
	Options    stream.Options  `json:"options"`
}

type rollbackBody struct {
	Revision int            `json:"revision"`
	Options  stream.Options `json:"options"`
}

type cancelBody struct {
	Force bool `json:"force"`
}

type recoverBody struct {
	Strategy        stream.Strategy `json:"strategy"`
	ResourceVersion string          `json:"resourceVersion"`
	Options         stream.Options  `json:"options"`
}
