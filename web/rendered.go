package web

import (
	"github.com/prometheus/client_golang/prometheus"

	"riverrun/web/bytecache"
	"riverrun/web/view"
)

// rendered are the metrics of the caches of rendered parts of entries, and of compressed pages.
type rendered struct {
	view   *view.Renderer
	packed *packedPages
}

var (
	renderedBytes  = prometheus.NewDesc("riverrun_rendered_bytes", "Size of the cache of rendered parts of entries, and of compressed pages.", []string{"parts"}, nil)
	renderedLooked = prometheus.NewDesc("riverrun_rendered_total", "Parts of entries, and compressed pages, that were needed, by whether they were in the cache.", []string{"parts", "found"}, nil)
)

// Describe implements prometheus.Collector.
func (rendered) Describe(out chan<- *prometheus.Desc) {
	out <- renderedBytes
	out <- renderedLooked
}

// Collect implements prometheus.Collector.
func (r rendered) Collect(out chan<- prometheus.Metric) {
	shared, own := r.view.CacheUses()
	for parts, use := range map[string]bytecache.Use{"shared": shared, "own": own, "page": r.packed.pages.Use()} {
		out <- prometheus.MustNewConstMetric(renderedBytes, prometheus.GaugeValue, float64(use.Bytes), parts)
		out <- prometheus.MustNewConstMetric(renderedLooked, prometheus.CounterValue, float64(use.Hits), parts, "yes")
		out <- prometheus.MustNewConstMetric(renderedLooked, prometheus.CounterValue, float64(use.Misses), parts, "no")
	}
}
