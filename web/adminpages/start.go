package adminpages

// start shows what there is to do.
func (p *Pages) start(c Call) error {
	open, err := p.reports.Open(c.Request().Context())
	if err != nil {
		return err
	}
	waiting, err := p.doors.store.CountWaiting(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Show(startPage(c.Base(), c.Role(), open, waiting))
}
