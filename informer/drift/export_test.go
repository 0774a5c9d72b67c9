package drift

import "time"

// Within limits the time for one answer.
func (c *Comparer) Within(d time.Duration) { c.within = d }
