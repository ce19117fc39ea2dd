package rivers

// BuildCause is why entries were put into a river in bulk. Rows of rivers and figures have it.
type BuildCause string

// The causes. An extension makes no generation, so only figures know it.
const (
	ForVisit   BuildCause = "visit"   // somebody opened the page, and no river stood
	ForChange  BuildCause = "change"  // access or subscriptions changed while the page was open
	ForSearch  BuildCause = "search"  // too many posts had changed since the search was updated
	ForRequest BuildCause = "request" // somebody who runs the site asked for it
	ForExtend  BuildCause = "extend"  // somebody read below the floor
)

// BuildCauses are all of them.
var BuildCauses = []BuildCause{ForVisit, ForChange, ForSearch, ForRequest, ForExtend}
