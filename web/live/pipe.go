package live

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"time"
)

// A pipe prepares the connection of a handshake for a reader that does not read. The system
// holds what was written and not read yet. Left alone it would let that grow to megabytes, and
// offer it for minutes after the socket was closed; a reader that has no room for it is not
// even told of the close. So the system is to hold little, and a close throws that away, which
// the reader sees as a reset. A close with a code loses nothing: it ends when the other side
// has answered, which has read everything by then.
type pipe struct {
	http.ResponseWriter
	buffer int       // bytes
	until  time.Time // when the connection ends; zero: whenever
}

// Hijack is called by the websocket library, which takes the connection over.
func (p *pipe) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(p.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SetDeadline(p.until); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := errors.Join(tcp.SetLinger(0), tcp.SetWriteBuffer(p.buffer)); err != nil {
			return nil, nil, errors.Join(err, conn.Close())
		}
	}
	if rw.Reader.Buffered() > 0 {
		return conn, rw, nil
	}
	// The server's own buffers are larger than most frames, and would stay as long as the socket.
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(conn, readBuffer), bufio.NewWriterSize(conn, writeBuffer)), nil
}

// These are the sizes of a socket's buffers in bytes. Larger frames pass through in parts.
const (
	readBuffer  = 512
	writeBuffer = 1024
)
