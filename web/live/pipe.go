package live

import (
	"bufio"
	"errors"
	"net"
	"net/http"
)

// A pipe is a handshake that makes the connection ready for a reader who may not read.
// The system holds what was written and not read yet. On its own it would let that grow
// to megabytes, and go on offering it for minutes after the socket was closed: a reader
// without room for it is not even told that it was closed. So it holds little, and a
// close throws it away (and says so, by a reset). A close with a code is not concerned:
// it ends when the other side has answered, so has read all.
type pipe struct {
	http.ResponseWriter
	buffer int // bytes
}

// Hijack is what the websocket library takes the connection with.
func (p *pipe) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(p.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := errors.Join(tcp.SetLinger(0), tcp.SetWriteBuffer(p.buffer)); err != nil {
			return nil, nil, errors.Join(err, conn.Close())
		}
	}
	return conn, rw, nil
}
