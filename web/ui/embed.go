// Package ui holds the pages, as Vite built them, inside the program.
package ui

import (
	"embed"
	"fmt"
	"io/fs"
)

// built is the folder that `npm run build` fills. Before the first build it
// holds nothing but a .gitignore, which keeps this package compiling.
//
//go:embed all:dist
var built embed.FS

//go:embed unbuilt
var unbuilt embed.FS

// Files returns the pages. index.html is for every path under /helm/ that is not
// a file. The names of the files in assets/ change with their content, so they
// may be cached forever. index.html refers to them as ./assets/x.js; a server
// must adjust these paths if it serves index.html at another depth. If the
// program was compiled before the pages were built, there is only an index.html
// that says so.
func Files() fs.FS {
	if _, err := fs.Stat(built, "dist/pages/index.html"); err == nil {
		return sub(built, "dist/pages")
	}
	return sub(unbuilt, "unbuilt")
}

// sub panics on a folder name that is not valid, which only this file can cause.
func sub(files fs.FS, folder string) fs.FS {
	s, err := fs.Sub(files, folder)
	if err != nil {
		panic(fmt.Sprintf("ui: open embedded folder: %v", err))
	}
	return s
}
