package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/web"
)

func TestSubmittedMaskTokensAreReplacedByTheirValues(t *testing.T) {
	a := newArchive(t, func(o *web.Options) { o.MayReveal = func(helmtrail.ReleaseRef) error { return nil } })
	const config = `{"db":{"password":"first-secret"},"n":12345678901234567890123}`
	a.put(t, shop{revision: 1, status: "deployed", record: `"info":{"status":"deployed"},"config":` + config + `,"chart":{"metadata":{"name":"web"},"values":{"admin":{"token":"second-secret"}}}`})
	a.put(t, shop{revision: 2, status: "failed"})
	shown := a.do(http.MethodGet, shopURL+"/web/revisions/1/values?all=true", "").body
	if strings.Contains(shown, "-secret") {
		t.Fatalf("the masked values are %s", shown)
	}
	edited := strings.Replace(shown, `"n":12345678901234567890123`, `"n":5`, 1)
	upgrade := func(body string) response { return a.do(http.MethodPut, shopURL+"/web", body) }
	var answer struct{ SessionID string }
	upgrade(`{"chart":{"ref":"web"},"values":`+edited+`}`).decode(http.StatusAccepted, &answer)
	process := a.helm.process(answer.SessionID)
	const want = `{"admin":{"token":"second-secret"},"db":{"password":"first-secret"},"n":5}`
	if got := string(process.request.Values); got != want {
		t.Errorf("helm gets %s, want %s", got, want)
	}
	process.end()

	var tokens struct{ DB struct{ Password string } }
	if err := json.Unmarshal([]byte(shown), &tokens); err != nil {
		t.Fatal(err)
	}
	for field, body := range map[string]string{
		"values.banner":         `{"chart":{"ref":"web"},"values":{"banner":"` + tokens.DB.Password + `"}}`,
		"values.admin.token":    `{"chart":{"ref":"web"},"valuesYAML":"admin:\n  token: ` + tokens.DB.Password + `\n"}`,
		"values.db.password":    `{"chart":{"ref":"web"},"values":{"db":{"password":"«masked:0123456789abcdef»"}}}`,
		"values.db.password[0]": `{"chart":{"ref":"web"},"values":{"db":{"password":["` + tokens.DB.Password + `"]}}}`,
	} {
		if _, details := upgrade(body).wantError(http.StatusBadRequest, "bad_request"); details["field"] != field {
			t.Errorf("rejected because of %v, want %s", details["field"], field)
		}
	}
	body := `{"name":"new","chart":{"ref":"web"},"values":{"db":{"password":"` + tokens.DB.Password + `"}}}`
	if _, details := a.do(http.MethodPost, shopURL, body).wantError(http.StatusBadRequest, "bad_request"); details["field"] != "values.db.password" {
		t.Errorf("the install is rejected because of %v", details["field"])
	}
}
