package look_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// axe-core as npm has it. It is loaded once and kept in the user's cache; it is no part of
// this repository.
const (
	axeVersion = "4.14.1"
	axeTarball = "https://registry.npmjs.org/axe-core/-/axe-core-" + axeVersion + ".tgz"
	axeSum     = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
	maxAxe     = 16 << 20 // bytes
)

// axe returns the script.
func axe(t *testing.T) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = t.TempDir()
	}
	kept := filepath.Join(dir, "riverrun", "axe-core-"+axeVersion+".js")
	script, err := os.ReadFile(kept)
	if err == nil {
		return string(script)
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if script, err = loadAxe(t.Context()); err != nil {
		t.Fatalf("axe-core: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	// Another test may do the same: the last one to rename wins, with the same content.
	half := fmt.Sprintf("%s.%d", kept, os.Getpid())
	if err := os.WriteFile(half, script, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(half, kept); err != nil {
		t.Fatal(err)
	}
	return string(script)
}

func loadAxe(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, axeTarball, nil)
	if err != nil {
		return nil, err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", axeTarball, reply.Status)
	}
	sum := sha512.New()
	packed, err := gzip.NewReader(io.TeeReader(io.LimitReader(reply.Body, maxAxe), sum))
	if err != nil {
		return nil, err
	}
	var script []byte
	for files := tar.NewReader(packed); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if file.Name == "package/axe.min.js" {
			if script, err = io.ReadAll(io.LimitReader(files, maxAxe)); err != nil {
				return nil, err
			}
		}
	}
	// The sum is of the whole file.
	if _, err := io.Copy(io.Discard, packed); err != nil {
		return nil, err
	}
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != axeSum {
		return nil, fmt.Errorf("%s has the sum %s, want %s", axeTarball, got, axeSum)
	}
	if script == nil {
		return nil, fmt.Errorf("%s has no axe.min.js", axeTarball)
	}
	return script, nil
}
