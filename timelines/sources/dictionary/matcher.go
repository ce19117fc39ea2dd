package dictionary

import (
	"crypto/sha256"
	"slices"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
)

// Matcher finds the tags of texts by one dictionary. It is safe for concurrent use.
type Matcher struct {
	// Mark is a hash of the dictionary; it is zero if there is no dictionary.
	Mark [32]byte

	// A text is matched part by part and not byte by byte. So words are whole, and the trie is small:
	// each of its states takes 2 kB. Each part in the dictionary has a number of two bytes; all other
	// parts are 0.
	numbers map[string]uint16
	trie    *ahocorasick.Trie
	// tags are the tags of each pattern.
	tags [][]string
}

// New makes a matcher of a dictionary.
func New(entries []Entry) *Matcher {
	m := &Matcher{numbers: map[string]uint16{}}
	if len(entries) == 0 {
		return m
	}
	m.Mark = sha256.Sum256([]byte(Format(entries)))
	builder := ahocorasick.NewTrieBuilder()
	patterns := map[string]int{}
	for _, e := range entries {
		for _, word := range append([]string{nameOf(e.Tag)}, e.Words...) {
			var pattern []byte
			for _, part := range parts(word) {
				n, known := m.numbers[part]
				if !known {
					n = uint16(len(m.numbers) + 1) // there are at most maxParts
					m.numbers[part] = n
				}
				pattern = append(pattern, byte(n>>8), byte(n))
			}
			at, known := patterns[string(pattern)]
			if !known {
				at = len(m.tags)
				patterns[string(pattern)] = at
				m.tags = append(m.tags, nil)
				builder.AddPattern(pattern)
			}
			if !slices.Contains(m.tags[at], e.Tag) {
				m.tags[at] = append(m.tags[at], e.Tag)
			}
		}
	}
	m.trie = builder.Build()
	return m
}

// Tags returns the tags of the words in texts, without their #, each once, in the order of the words.
func (m *Matcher) Tags(texts ...string) []string {
	if m.trie == nil {
		return nil
	}
	var found []string
	for _, text := range texts {
		all := parts(text)
		numbers := make([]byte, 0, 2*len(all))
		for _, part := range all {
			n := m.numbers[part]
			numbers = append(numbers, byte(n>>8), byte(n))
		}
		m.trie.Walk(numbers, func(end, n, pattern int64) bool {
			if end%2 == 0 {
				return true // between two numbers
			}
			for _, tag := range m.tags[pattern] {
				if !slices.Contains(found, tag) {
					found = append(found, tag)
				}
			}
			return true
		})
	}
	return found
}
