package adminpages

// start shows what there is to do.
func (p *Pages) start(c Call) error {
	return c.Show(startPage(c.Base(), c.Role()))
}
