package web_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"riverrun/web"
	"riverrun/web/webtest"
)

// BenchmarkPageWhileACrowdSignsIn: what a warm page costs its reader, while nobody and
// while sixty people sign in, each again and again.
func BenchmarkPageWhileACrowdSignsIn(b *testing.B) {
	for _, crowd := range []int{0, 60} {
		b.Run(fmt.Sprintf("crowd=%d", crowd), func(b *testing.B) {
			s := webtest.New(b, nil)
			s.Server.SetProxies(web.Loopback()...)
			anna := s.Person("anna")
			for i := range 25 {
				anna.Post(fmt.Sprintf("post %d", i))
			}
			reader := anna.Visitor()
			reader.Client.Transport = http.DefaultTransport // compressed, as browsers ask for pages
			reader.Get("/everything").Wants(200)
			done := make(chan struct{})
			var all sync.WaitGroup
			var signedIn atomic.Int64
			for i := range crowd {
				v := s.Visitor()
				all.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
							if tries(v, fmt.Sprintf("192.0.2.%d", i%6), "anna", webtest.Password).Status == http.StatusSeeOther {
								signedIn.Add(1)
							}
						}
					}
				})
			}
			for b.Loop() {
				reader.Get("/everything").Wants(200)
			}
			b.ReportMetric(float64(signedIn.Load())/b.Elapsed().Seconds(), "sign-ins/s")
			close(done)
			all.Wait()
		})
	}
}
