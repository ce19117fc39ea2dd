package web

import (
	"github.com/prometheus/client_golang/prometheus"

	"riverrun/rivers"
	"riverrun/rivers/bytecache"
	"riverrun/web/view"
)

// rendered are the metrics of the caches that pages are made with.
type rendered struct {
	rivers *rivers.Store
	view   *view.Renderer
	packed *packedPages
}

var (
	renderedBytes  = prometheus.NewDesc("riverrun_rendered_bytes", "Size of the caches of decided pages, of rendered parts and articles, and of compressed pages.", []string{"parts"}, nil)
	renderedLooked = prometheus.NewDesc("riverrun_rendered_total", "Decisions, parts of entries, articles of pages and compressed pages that were needed, by whether they were in the cache.", []string{"parts", "found"}, nil)
)

// Describe implements prometheus.Collector.
func (rendered) Describe(out chan<- *prometheus.Desc) {
	out <- renderedBytes
	out <- renderedLooked
}

// Collect implements prometheus.Collector.
func (r rendered) Collect(out chan<- prometheus.Metric) {
	shared, own, articles, fragments := r.view.CacheUses()
	for parts, use := range map[string]bytecache.Use{"shared": shared, "own": own, "articles": articles, "around": fragments, "decisions": r.rivers.Decided(), "page": r.packed.pages.Use()} {
		out <- prometheus.MustNewConstMetric(renderedBytes, prometheus.GaugeValue, float64(use.Bytes), parts)
		out <- prometheus.MustNewConstMetric(renderedLooked, prometheus.CounterValue, float64(use.Hits), parts, "yes")
		out <- prometheus.MustNewConstMetric(renderedLooked, prometheus.CounterValue, float64(use.Misses), parts, "no")
	}
}
