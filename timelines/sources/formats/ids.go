package formats

import (
	"crypto/sha256"
	"encoding/binary"
)

// idSet remembers ids by 64 bits of their hash: at most 22 bytes for each of many. A map of
// Go takes up to twice that. It has parts, which grow one after the other, so that there is
// no moment at which all is there twice.
//
// The hash is the same on every node, so that the canonical file is. Two ids with one hash
// would make the second one a repeated one; among a million, the chance is 1 in 37 million.
type idSet struct {
	parts [256]struct {
		slots []uint64 // 0 is free
		used  int
	}
}

// add reports whether the id is new.
func (s *idSet) add(id string) bool {
	sum := sha256.Sum256([]byte(id))
	key := max(binary.LittleEndian.Uint64(sum[:8]), 1)
	p := &s.parts[sum[8]]
	if p.used*4 >= len(p.slots)*3 {
		old := p.slots
		p.slots = make([]uint64, max(2*len(old), 8))
		for _, k := range old {
			if k != 0 {
				p.slots[place(p.slots, k)] = k
			}
		}
	}
	at := place(p.slots, key)
	if p.slots[at] == key {
		return false
	}
	p.slots[at] = key
	p.used++
	return true
}

// place returns where a key stands, or the free slot where it may.
func place(slots []uint64, key uint64) int {
	at := int(key % uint64(len(slots)))
	for slots[at] != 0 && slots[at] != key {
		if at++; at == len(slots) {
			at = 0
		}
	}
	return at
}
