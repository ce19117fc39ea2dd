package web

import (
	"fmt"
	"sync"
	"testing"
)

// BenchmarkPageWhileACrowdSignsIn: what a warm page costs its reader, while nobody and
// while sixty people sign in, each again and again.
func BenchmarkPageWhileACrowdSignsIn(b *testing.B) {
	for _, crowd := range []int{0, 60} {
		b.Run(fmt.Sprintf("crowd=%d", crowd), func(b *testing.B) {
			s := newLiveSite(b, nil)
			s.server.addresses = addresses{Loopback()}
			anna := s.person("anna")
			for i := range 25 {
				anna.post(fmt.Sprintf("post %d", i))
			}
			reader := anna.visitor()
			reader.get("/everything").wants(200)
			done := make(chan struct{})
			var all sync.WaitGroup
			for i := range crowd {
				v := s.visitor()
				all.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
							v.tries(fmt.Sprintf("192.0.2.%d", i%6), "anna", password)
						}
					}
				})
			}
			for b.Loop() {
				reader.get("/everything").wants(200)
			}
			close(done)
			all.Wait()
		})
	}
}
