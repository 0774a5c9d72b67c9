package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/helmtrail/helmtrail"

// pureRules lists the packages that contain only types and pure functions, with
// what they may import besides the standard library.
var pureRules = []struct {
	folder string
	allow  []string
}{
	{".", []string{"decoder", "health"}},
	{"health", nil},
	{"drift", []string{".", "decoder", "decoder/mask"}},
	{"audit", []string{".", "decoder"}},
	{"stream/backend", []string{".", "decoder/mask"}},
	{"stream/ownership", []string{".", "decoder"}},
}

// impure lists the packages of the standard library that a pure package does not need.
var impure = []string{"net", "net/http", "os", "os/exec", "sync", "sync/atomic", "syscall", "math/rand", "math/rand/v2"}

// importRules say which packages may not import which, and why. A path that ends
// in /... stands for itself and everything below. Imports without a dot in their
// first element are of the standard library.
var importRules = []struct {
	from, forbidden, why string
}{
	{"decoder/...", module + "/...", "decoder is pure, so that it can be used and tested alone"},
	{"decoder/...", "k8s.io/client-go/...", "decoder reads bytes that somebody else has fetched"},
	{"decoder/...", "net/http", "decoder does no I/O"},
	{"decoder/...", "os", "decoder does no I/O"},
	{"stream/...", module + "/informer/...", "stream declares an interface for what it needs of a cluster, and informer implements it"},
	{"stream/...", module + "/web/...", "a session does not know who watches it"},
	{"stream/...", module + "/cmd/...", "only programs connect packages"},
	{"stream/...", "k8s.io/client-go/...", "informer alone talks to clusters"},
	{"stream/...", "github.com/gin-gonic/gin", "web alone speaks HTTP"},
	{"stream/helmcli", module + "/stream", "helmcli is an adapter, and adapters do not know the engine"},
	{"stream/journal/...", module + "/stream", "journal is an adapter, and adapters do not know the engine"},
	{"stream/repository", module + "/stream", "repository is an adapter, and adapters do not know the engine"},
	{"stream/trail", module + "/stream", "trail is an adapter, and adapters do not know the engine"},
	{"informer/...", module + "/stream/...", "informer uses the shared types, not the engine or its adapters"},
	{"informer/...", module + "/web/...", "what is watched does not know who asks"},
	{"informer/...", "github.com/gin-gonic/gin", "web alone speaks HTTP"},
	{"web/...", module + "/informer/...", "web declares an interface for what it needs of a cluster, and cmd connects the two"},
	{"web/...", module + "/stream/helmcli", "web knows operations and logs, not how helm is run"},
	{"web/...", module + "/stream/repository", "web knows charts, not where they are fetched from"},
	{"web/...", module + "/stream/journal", "web knows operations and logs, not how events are stored"},
	{"web/...", module + "/stream/trail", "web declares an interface for the trail"},
	{"web/...", "k8s.io/client-go/...", "informer alone talks to clusters"},
	{"web/console", module + "/web/history", "web connects the two by an interface"},
	{"web/history", module + "/web/console", "history does not know which contracts show it"},
	{"web/...", "github.com/patrickmn/go-cache", "internal/bounded is its only user"},
	{"informer/...", "github.com/patrickmn/go-cache", "internal/bounded is its only user"},
	{"stream/...", "github.com/patrickmn/go-cache", "internal/bounded is its only user"},
}

// sourceFile is one file of the product, parsed.
type sourceFile struct {
	name   string // below the module root, with slashes
	folder string
	syntax *ast.File
}

// imports returns the paths that the file imports.
func (f sourceFile) imports(t *testing.T) []string {
	t.Helper()
	paths := make([]string, 0, len(f.syntax.Imports))
	for _, spec := range f.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imported)
	}
	return paths
}

// sourceFiles parses every Go file of the product except tests and the packages
// for tests, which may start real servers.
func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []sourceFile
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			if base := entry.Name(); base == "node_modules" || base == "testdata" || relative == "cmd/devcluster" || relative != "." && strings.HasPrefix(base, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(relative, "informer/clustertest/") {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, sourceFile{relative, path.Dir(relative), syntax})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// covers reports whether a rule's pattern covers a path.
func covers(pattern, name string) bool {
	tree, below := strings.CutSuffix(pattern, "/...")
	return name == tree || below && strings.HasPrefix(name, tree+"/")
}

// A rule is dead if no file matches it, or if no other package imports what it
// forbids: it could never fail.
func TestImportsPointOneWay(t *testing.T) {
	files := sourceFiles(t)
	for _, rule := range importRules {
		seen, imported := false, false
		for _, f := range files {
			from := covers(rule.from, f.folder)
			seen = seen || from
			imported = imported || covers(rule.forbidden, module+"/"+f.folder)
			for _, p := range f.imports(t) {
				forbidden := covers(rule.forbidden, p)
				imported = imported || forbidden
				// A package may import packages beside and below it.
				if from && forbidden && !covers(module+"/"+rule.from, p) {
					t.Errorf("%s imports %s: %s", f.name, p, rule.why)
				}
			}
		}
		if !seen || !imported {
			t.Errorf("the rule that %s may not import %s matches nothing any more", rule.from, rule.forbidden)
		}
	}
}

func TestSharedTypesArePure(t *testing.T) {
	files := sourceFiles(t)
	for _, rule := range pureRules {
		unused := map[string]bool{}
		for _, folder := range rule.allow {
			unused[path.Join(module, folder)] = true
		}
		found := false
		for _, f := range files {
			if f.folder != rule.folder {
				continue
			}
			found = true
			for _, p := range f.imports(t) {
				standard := !strings.Contains(strings.Split(p, "/")[0], ".")
				switch {
				case standard && slices.Contains(impure, p):
					t.Errorf("%s imports %s, but a package of shared types does no I/O and shares no state", f.name, p)
				case !standard && !slices.Contains(rule.allow, strings.TrimPrefix(strings.TrimPrefix(p, module), "/")) && (p != module || !slices.Contains(rule.allow, ".")):
					t.Errorf("%s imports %s, which is not among the packages that %s may import", f.name, p, rule.folder)
				}
				delete(unused, p)
			}
			checkPure(t, f)
		}
		if !found {
			t.Errorf("the rule for %s matches nothing any more", rule.folder)
		}
		for p := range unused {
			t.Errorf("%s may import %s, but does not need to", rule.folder, p)
		}
	}
}

// checkPure fails if the file starts a goroutine or reads the clock.
func checkPure(t *testing.T, f sourceFile) {
	t.Helper()
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine, but holds shared types", f.name)
		case *ast.SelectorExpr:
			clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
				t.Errorf("%s uses time.%s, but shared types read no clock", f.name, n.Sel.Name)
			}
		}
		return true
	})
}

// Restoring a token shows its secret, so one function does it, which checks the
// caller's right and records the reveal.
func TestTokensAreRestoredInOnePlace(t *testing.T) {
	places := []string{}
	for _, f := range sourceFiles(t) {
		if !slices.Contains(f.imports(t), module+"/decoder/mask") {
			continue
		}
		for _, declaration := range f.syntax.Decls {
			ast.Inspect(declaration, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Restore" {
					places = append(places, f.name+" "+declaration.(*ast.FuncDecl).Name.Name)
				}
				return true
			})
		}
	}
	want := []string{"web/history/restored_values.go RestoreValues", "web/history/restored_values.go restoreFrom"}
	if !slices.Equal(places, want) {
		t.Errorf("tokens are restored in %q, want %q", places, want)
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range sourceFiles(t) {
		documented[f.folder] = documented[f.folder] || f.syntax.Doc != nil
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc comment", folder)
		}
	}
}

// The limits keep each package, type and file to one subject.
func TestPackagesTypesAndFilesStaySmall(t *testing.T) {
	const maxNames, maxMethods, maxLines = 120, 60, 450
	names, methods := map[string]int{}, map[string]int{}
	for _, f := range sourceFiles(t) {
		for _, declaration := range f.syntax.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					methods[f.folder+"."+receiver(d)]++
				} else if d.Name.IsExported() {
					names[f.folder]++
				}
			case *ast.GenDecl:
				names[f.folder] += exportedNames(d)
			}
		}
		if lines := strings.Count(readFile(t, filepath.Join("..", "..", f.name)), "\n"); lines > maxLines {
			t.Errorf("%s has %d lines, more than %d", f.name, lines, maxLines)
		}
	}
	for folder, n := range names {
		if n > maxNames {
			t.Errorf("package %s exports %d names, more than %d", folder, n, maxNames)
		}
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, more than %d", name, n, maxMethods)
		}
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	x := d.Recv.List[0].Type
	if pointer, ok := x.(*ast.StarExpr); ok {
		x = pointer.X
	}
	if generic, ok := x.(*ast.IndexExpr); ok {
		x = generic.X
	}
	name, ok := x.(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name
}

// exportedNames counts the types, constants and variables of a declaration that
// are exported.
func exportedNames(d *ast.GenDecl) int {
	n := 0
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				n++
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					n++
				}
			}
		}
	}
	return n
}
