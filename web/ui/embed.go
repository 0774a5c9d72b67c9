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

// Files returns the pages: index.html, which serves every address under /helm/
// that is no file, and assets/, whose names change with their content, so that
// they may be cached for ever. index.html names them as ./assets/x.js; whoever
// serves it at other addresses must say there where they are. In a program that
// was compiled before the pages were built, index.html says so and there is
// nothing else.
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
