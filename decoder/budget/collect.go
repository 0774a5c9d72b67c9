package budget

import (
	"runtime/debug"
	"sync"
)

// garbage replaces GOGC while a large record is in memory: by how many percent
// the heap may grow until garbage is collected. With the usual 100, the garbage
// of masking a large record would take as much memory again as all else.
const garbage = 20

// collecting counts who needs garbage to be collected often. The setting belongs
// to the process, and so does this.
var collecting struct {
	sync.Mutex
	needed, before int
}

func collectOften() {
	collecting.Lock()
	defer collecting.Unlock()
	if collecting.needed++; collecting.needed == 1 {
		collecting.before = debug.SetGCPercent(garbage)
	}
}

func collectAsUsual() {
	collecting.Lock()
	defer collecting.Unlock()
	if collecting.needed--; collecting.needed == 0 {
		debug.SetGCPercent(collecting.before)
	}
}
