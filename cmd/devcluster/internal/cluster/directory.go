package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// directory is the folder with all files of a dev cluster.
type directory string

func (d directory) join(name string) string { return filepath.Join(string(d), name) }

func (d directory) kubeconfig() string { return d.join("kubeconfig") }
func (d directory) log() string        { return d.join("devcluster.log") }
func (d directory) etcd() string       { return d.join("etcd") }
func (d directory) pki() string        { return d.join("pki") }
func (d directory) settings() string   { return d.join("cluster.json") }

// lock locks the folder for this process, or returns an error that names the
// process that holds it. The kernel releases the lock when the process ends.
func (d directory) lock() (release func(), err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, fmt.Errorf("create cluster folder: %w", err)
	}
	file, err := os.OpenFile(d.join("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(file.Name())
		file.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", d, err)
		}
		return nil, fmt.Errorf("%s is in use by another devcluster (process %s)", d, strings.TrimSpace(string(holder)))
	}
	if err := file.Truncate(0); err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("write lock: %w", err)
	}
	return func() { file.Close() }, nil
}

// settings are the options that a cluster keeps between runs.
type settings struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// server returns the URL of the API server.
func (s settings) server() string {
	return "https://" + net.JoinHostPort(loopback, strconv.Itoa(s.Port))
}

// resolve returns the given settings, completed with those kept in the folder.
func (d directory) resolve(name string, port int) (settings, error) {
	kept := settings{Name: DefaultName}
	text, err := os.ReadFile(d.settings())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return kept, fmt.Errorf("read cluster settings: %w", err)
	default:
		if err := json.Unmarshal(text, &kept); err != nil {
			return kept, fmt.Errorf("read cluster settings %s: %w", d.settings(), err)
		}
	}
	if name != "" {
		kept.Name = name
	}
	if port != 0 {
		kept.Port = port
	}
	return kept, nil
}

func (d directory) keep(s settings) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(d.settings(), append(text, '\n'))
}

// listen binds the API server's port on the loopback address, or a free one if
// port is 0. It chooses free ports below the ephemeral range, so that no outgoing
// connection can hold the port when the cluster is restarted.
func listen(port int) (net.Listener, error) {
	if port != 0 {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("the API server's port is taken (choose another with --port): %w", err)
		}
		return l, nil
	}
	const low, high = 20000, 30000
	start := rand.IntN(high - low)
	for i := range high - low {
		candidate := low + (start+i)%(high-low)
		if l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(candidate))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no free port between %d and %d on %s", low, high, loopback)
}

// replaceFile writes a private file atomically.
func replaceFile(name string, content []byte) error {
	temp := name + ".new"
	if err := os.WriteFile(temp, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(temp, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
