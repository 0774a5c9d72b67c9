package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/helmtrail/helmtrail/"

const cachePackage = "github.com/patrickmn/go-cache"

// importRules say which packages may not import which, and why. A folder
// stands for itself and all below it.
var importRules = []struct {
	from, forbidden, why string
}{
	{"decoder", module, "decoder is pure: bytes in, values out, so that it can be used and tested alone"},
	{"decoder", "k8s.io/client-go", "decoder reads bytes that somebody else has fetched"},
	{"decoder", "net/http", "decoder does no I/O"},
	{"decoder", "os", "decoder does no I/O"},
	{"stream", module + "informer", "stream says what it needs of a cluster in an interface, which informer provides"},
	{"stream", module + "web", "a session does not know who watches it"},
	{"stream", module + "cmd", "only programs wire"},
	{"stream", "k8s.io/client-go", "clusters are informer's"},
	{"stream", "github.com/gin-gonic/gin", "HTTP is web's"},
	{"informer", module + "web", "what is watched does not know who asks"},
	{"informer", module + "stream/", "informer uses stream's types, not its engines"},
	{"informer", "github.com/gin-gonic/gin", "HTTP is web's"},
	{"web", module + "informer", "web says what it needs of a cluster in an interface, which cmd wires to informer"},
	{"web", module + "stream/", "web knows operations and logs, not how helm is run or events are kept"},
	{"web", "k8s.io/client-go", "clusters are informer's"},
	{"web/console", module + "web/history", "web connects the two by an interface"},
	{"web/history", module + "web/console", "the history does not know which contracts show it"},
	{"web", cachePackage, "internal/bounded is its only user, typed and without a janitor"},
	{"informer", cachePackage, "internal/bounded is its only user, typed and without a janitor"},
	{"stream", cachePackage, "internal/bounded is its only user, typed and without a janitor"},
}

func TestImportsPointOneWay(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			if name := entry.Name(); name == "node_modules" || name == "testdata" || relative == "cmd/devcluster" {
				return filepath.SkipDir
			}
			return nil
		}
		// Tests may start the real thing.
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(relative, "informer/clustertest/") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, relative, imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImport(t *testing.T, file, imported string) {
	t.Helper()
	for _, rule := range importRules {
		if !strings.HasPrefix(file, rule.from+"/") {
			continue
		}
		// A package may import what stands beside and below it.
		if strings.HasPrefix(imported+"/", module+rule.from+"/") {
			continue
		}
		if strings.HasPrefix(imported, rule.forbidden) && (strings.HasSuffix(rule.forbidden, "/") || imported == rule.forbidden || strings.HasPrefix(imported, rule.forbidden+"/")) {
			t.Errorf("%s imports %s: %s", file, imported, rule.why)
		}
	}
}
