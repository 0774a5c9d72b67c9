package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanupsRunOnceInReverseOrder(t *testing.T) {
	var c cleanups
	var ran []string
	failed := errors.New("no")
	for _, name := range []string{"close the journal", "stop the trail", "close the requests"} {
		c.add(name, func() error {
			ran = append(ran, name)
			if name == "close the journal" {
				return nil
			}
			return failed
		})
	}
	err := c.run()
	if want := "close the requests: no\nstop the trail: no"; !errors.Is(err, failed) || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	if err := c.run(); err != nil {
		t.Errorf("the second run returned %v", err)
	}
	if diff := cmp.Diff([]string{"close the requests", "stop the trail", "close the journal"}, ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}
