package web

import (
	"encoding/json"

	"github.com/helmtrail/helmtrail"
)

type upgradeBody struct {
	Chart      helmtrail.Chart   `json:"chart"`
	Values     json.RawMessage   `json:"values"`
	ValuesYAML string            `json:"valuesYAML"`
	Options    helmtrail.Options `json:"options"`
}

// installBody repeats the fields of upgradeBody instead of embedding it, because
// encoding/json would name the embedded struct in its errors.
type installBody struct {
	Name       string            `json:"name"`
	Chart      helmtrail.Chart   `json:"chart"`
	Values     json.RawMessage   `json:"values"`
	ValuesYAML string            `json:"valuesYAML"`
	Options    helmtrail.Options `json:"options"`
}

type rollbackBody struct {
	Revision int               `json:"revision"`
	Options  helmtrail.Options `json:"options"`
}

type cancelBody struct {
	Force bool `json:"force"`
}

type recoverBody struct {
	Strategy        helmtrail.Strategy `json:"strategy"`
	ResourceVersion string             `json:"resourceVersion"`
	Options         helmtrail.Options  `json:"options"`
}
