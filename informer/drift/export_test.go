package drift

import "time"

// Within sets how long one answer may take.
func (c *Comparer) Within(d time.Duration) { c.within = d }
