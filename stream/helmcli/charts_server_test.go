package helmcli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/stream/repository"
)

const (
	serverUser     = "chart-reader"
	serverPassword = "S3cr3t-chart-password"
)

// chartFiles is a chart that renders one ConfigMap.
func chartFiles(name, version string) map[string]string {
	return map[string]string{
		"Chart.yaml":               fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\nappVersion: \"7\"\ndescription: A small chart.\n", name, version),
		"values.yaml":              "# How much.\nsize: 1\n",
		"values.schema.json":       `{"type":"object","properties":{"size":{"type":"integer"}}}`,
		"README.md":                "# " + name + "\n",
		"templates/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  size: {{ .Values.size | quote }}\n",
	}
}

// archive packs a chart as `helm package` does.
func archive(t *testing.T, name string, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	writer := tar.NewWriter(zipped)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		err := writer.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o644, Size: int64(len(files[file])), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = writer.Write([]byte(files[file]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// chartServer is a chart repository and an OCI registry (the pulling half of the OCI
// distribution specification) over TLS, both with one chart. Unless open, both need
// a password.
type chartServer struct {
	*httptest.Server
	host string
}

// authority is the server's certificate in PEM.
func (s *chartServer) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func serveCharts(t *testing.T, open bool) *chartServer {
	t.Helper()
	packed := archive(t, "small", chartFiles("small", "1.2.3"))
	blobs := map[string][]byte{}
	type descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	store := func(mediaType string, data []byte) descriptor {
		sum := sha256.Sum256(data)
		d := descriptor{mediaType, "sha256:" + hex.EncodeToString(sum[:]), len(data)}
		blobs[d.Digest] = data
		return d
	}
	config := store("application/vnd.cncf.helm.config.v1+json", []byte(`{"name":"small","version":"1.2.3","apiVersion":"v2"}`))
	layer := store("application/vnd.cncf.helm.chart.content.v1.tar+gzip", packed)
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	manifestData, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer}})
	if err != nil {
		t.Fatal(err)
	}
	manifest := store(manifestType, manifestData)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /charts/index.yaml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "apiVersion: v1\nentries:\n  small:\n"+
			"  - {apiVersion: v2, name: small, version: 1.2.3, appVersion: '7', description: A small chart., urls: [small-1.2.3.tgz]}\n"+
			"  - {apiVersion: v2, name: small, version: 1.0.0, deprecated: true, urls: [small-1.0.0.tgz]}\n")
	})
	mux.HandleFunc("GET /charts/small-1.2.3.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed) })
	mux.HandleFunc("GET /v2/{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v2/team/small/tags/list", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"team/small","tags":["1.2.3"]}`)
	})
	send := func(w http.ResponseWriter, mediaType, digest string) {
		data, ok := blobs[digest]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Docker-Content-Digest", digest)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data)
	}
	mux.HandleFunc("GET /v2/team/small/manifests/{reference}", func(w http.ResponseWriter, r *http.Request) {
		digest := r.PathValue("reference")
		if digest == "1.2.3" {
			digest = manifest.Digest
		}
		send(w, manifestType, digest)
	})
	mux.HandleFunc("GET /v2/team/small/blobs/{digest}", func(w http.ResponseWriter, r *http.Request) {
		send(w, "application/octet-stream", r.PathValue("digest"))
	})
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if !open && (user != serverUser || password != serverPassword) {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
	s := &chartServer{}
	if open {
		s.Server = httptest.NewServer(guarded)
	} else {
		s.Server = httptest.NewUnstartedServer(guarded)
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // rejected handshakes are expected
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	_, s.host, _ = strings.Cut(s.URL, "://")
	return s
}

// realHelm returns a Helm that runs the binary built by `make build`.
func realHelm(t *testing.T, major int, config Config) *Helm {
	t.Helper()
	folder := os.Getenv("HELMTRAIL_TEST_BIN")
	if folder == "" {
		folder = filepath.Join("..", "..", "bin")
	}
	config.Binary = filepath.Join(folder, fmt.Sprintf("helm%d", major))
	config.Folder = filepath.Join(t.TempDir(), "sessions")
	config.Logger = slog.New(slog.DiscardHandler)
	h, err := New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if h.problem != nil {
		t.Fatalf("run make build: %v", h.problem)
	}
	return h
}

// listed is what --chart-hosts makes of hosts.
func listed(t *testing.T, hosts ...string) repository.Hosts {
	t.Helper()
	parsed, err := repository.ParseHosts(hosts)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
