package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"riverrun/timelines"
)

const (
	nonceSize = 8
	sealSize  = nonceSize + 16
)

// seal returns the word by which a page remembers the sight it was decided with. It
// tells nobody anything: it is another one each time, or it would say when somebody
// began to hide from its reader, and who guesses at a sight cannot try.
func (s *Server) seal(sets *timelines.Sets) string {
	word := make([]byte, nonceSize, sealSize)
	_, _ = rand.Read(word) // never fails: crypto/rand crashes the program instead
	return hex.EncodeToString(s.sealed(word, sets))
}

// isSealed reports whether the word was made, on any node, with the sight of sets.
func (s *Server) isSealed(word string, sets *timelines.Sets) bool {
	given, err := hex.DecodeString(word)
	if err != nil || len(given) != sealSize {
		return false
	}
	return hmac.Equal(given, s.sealed(given[:nonceSize:nonceSize], sets))
}

// sealed appends the seal to a nonce. The key is the secondary store's epoch: all
// nodes know it, nobody else does, and when it changes all pages are brought up
// anyway.
func (s *Server) sealed(nonce []byte, sets *timelines.Sets) []byte {
	h := hmac.New(sha256.New, binary.BigEndian.AppendUint64(nil, uint64(s.rivers.Access().Epoch())))
	h.Write(nonce)
	h.Write([]byte(sets.Sight()))
	return append(nonce, h.Sum(nil)[:sealSize-nonceSize]...)
}
