package formats

import (
	"crypto/sha256"
	"encoding/binary"
)

// idSet remembers ids by 64 bits of their hash. If there are many, each takes at most 22 bytes; a map
// of Go takes up to twice that. The set has parts, which grow one after the other, so that it never
// exists twice.
//
// The hash is the same on every node, so that the canonical file is the same too. If two ids had one
// hash, the second would count as repeated. Among a million ids the chance of that is 1 in 37
// million.
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

// place returns the place of a key, or the free slot for it.
func place(slots []uint64, key uint64) int {
	at := int(key % uint64(len(slots)))
	for slots[at] != 0 && slots[at] != key {
		if at++; at == len(slots) {
			at = 0
		}
	}
	return at
}
