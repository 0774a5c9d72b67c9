package drift_test

import (
	"testing"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }
