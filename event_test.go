package helmtrail_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
)

// Readers subscribe to the types that they know, so a type that is not listed
// would never be heard.
func TestTypesListsEveryEventType(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []helmtrail.Type
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			if kind, ok := constant.Type.(*ast.Ident); !ok || kind.Name != "Type" {
				continue
			}
			value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, helmtrail.Type(value))
		}
	}
	if diff := cmp.Diff(want, helmtrail.Types); diff != "" {
		t.Errorf("Types (-constants +listed):\n%s", diff)
	}
}
