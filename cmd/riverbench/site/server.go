package site

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// server is a process of "riverrun serve".
type server struct {
	url   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it ended
	exit  error         // why; to be read after ended
}

// start returns when the process, which listens at an address, has said where it serves.
func start(ctx context.Context, c Config, database, listen string) (*server, error) {
	cmd := exec.Command(c.Riverrun, "serve")
	// A site of the caller's own must not be touched, nor its settings be measured.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(set string) bool {
		return strings.HasPrefix(set, "RIVERRUN_") || strings.HasPrefix(set, "RIVERS_") || strings.HasPrefix(set, "DATABASE_URL=")
	})
	cmd.Env = append(append(cmd.Env,
		"DATABASE_URL="+database, "RIVERRUN_LISTEN="+listen, "RIVERRUN_LOG_LEVEL=warn", "RIVERRUN_PREVIEWS=off",
		"RIVERRUN_WRITES=1000000", "RIVERRUN_SEARCHES=1000000", "RIVERRUN_DATA="+filepath.Join(c.Dir, "data"),
	), c.Env...)
	cmd.Stderr = c.Log
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	endWithParent(cmd.SysProcAttr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, ended: make(chan struct{})}
	serves := make(chan error)
	go func() {
		// See endWithParent. The thread is never unlocked. It ends with the goroutine, which ends
		// with the server.
		runtime.LockOSThread()
		err := s.begin(ctx, out)
		serves <- err
		if err == nil {
			s.exit = cmd.Wait()
			close(s.ended)
		}
	}()
	if err := <-serves; err != nil {
		return nil, err
	}
	return s, nil
}

// begin starts the process and reads from out where it serves.
func (s *server) begin(ctx context.Context, out io.Reader) error {
	if err := s.cmd.Start(); err != nil {
		return err
	}
	// Whatever ends the wait for the first line ends the process.
	abandon := context.AfterFunc(ctx, func() { _ = s.cmd.Process.Kill() })
	defer abandon()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("%s serve ended without a word: %w", s.cmd.Path, err), s.cmd.Wait())
	}
	s.url = strings.TrimPrefix(strings.TrimSpace(line), "riverrun serves ")
	return nil
}

// stopWithin is how long a server may take to end by itself. Its own limit is shorter.
const stopWithin = 30 * time.Second

func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.AfterFunc(stopWithin, func() { _ = s.cmd.Process.Kill() }) // exit says how it ended
	defer late.Stop()
	<-s.ended
	if s.exit != nil {
		return fmt.Errorf("riverrun serve: %w", s.exit)
	}
	return nil
}

// kill ends the process at once.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // an error says that it has ended
	<-s.ended
}
