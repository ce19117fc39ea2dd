package notices

// SetMost sets how much the cache may remember, in bytes.
func (c *Cache) SetMost(bytes int) { c.most = bytes }

// Kept is how many people the cache remembers, and about how many bytes of them.
func (c *Cache) Kept() (people, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kept.Values() {
		if k.bytes != k.size() {
			return 0, -1 // it was changed and not weighed
		}
		people, bytes = people+1, bytes+k.bytes
	}
	if bytes != c.bytes {
		return 0, -2
	}
	return people, bytes
}
