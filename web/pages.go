package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

const (
	indexPage = "index.html"
	// assetFolder holds the files whose names contain a hash of their content.
	assetFolder = "assets/"
	// pagePolicy limits the pages to resources of this server.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// pages is the built app.
type pages struct{ files fs.FS }

// newPages fails when the app has not been built.
func newPages(files fs.FS) (*pages, error) {
	if files == nil {
		return nil, errors.New("serve the pages: no files were given")
	}
	if _, err := fs.Stat(files, indexPage); err != nil {
		return nil, fmt.Errorf("serve the pages, which `make build` builds: %w", err)
	}
	return &pages{files: files}, nil
}

// root redirects to the pages.
func (s *Server) root(c *gin.Context) error {
	c.Redirect(http.StatusFound, s.options.BasePath+"/helm/releases")
	return nil
}

// page serves a file of the app, or the app's first page for any other URL,
// because the app does its routing in the browser. Files named by their content
// may be cached forever; all others must be revalidated.
func (s *Server) page(c *gin.Context) error {
	name := strings.TrimPrefix(path.Clean("/"+c.Param("path")), "/")
	data, err := s.pages.read(name)
	asset := strings.HasPrefix(name+"/", assetFolder)
	if errors.Is(err, fs.ErrNotExist) && !asset {
		name = indexPage
		data, err = s.pages.read(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return httpapi.ErrNoRoute
	}
	if err != nil {
		return fmt.Errorf("read page %s: %w", name, err)
	}
	if name == indexPage {
		data = withBasePath(data, s.options.BasePath)
	}
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	if asset {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		sum := sha256.Sum256(data)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:18])+`"`)
	}
	http.ServeContent(c.Writer, c.Request, name, time.Time{}, bytes.NewReader(data))
	return nil
}

// withBasePath makes the file paths in the app's first page absolute, because
// that page is served for URLs of any depth, and tells the app its base path.
func withBasePath(page []byte, base string) []byte {
	page = bytes.ReplaceAll(page, []byte(`="./`), []byte(`="`+base+`/helm/`))
	return bytes.Replace(page, []byte("</head>"), []byte(`<meta name="helmtrail-base" content="`+base+`"></head>`), 1)
}

// read returns a file's content. A folder counts as missing.
func (p *pages) read(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	info, err := fs.Stat(p.files, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(p.files, name)
}
