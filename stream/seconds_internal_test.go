package stream

import (
	"encoding/json"
	"testing"
	"time"
)

// Durations are shown in milliseconds, without the error of time.Duration.Seconds.
func TestSecondsAreRoundedToMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		2688 * time.Millisecond:        "2.688",
		2688*time.Millisecond - 300000: "2.688",
		time.Hour:                      "3600",
		0:                              "0",
	} {
		if got, err := json.Marshal(seconds(d)); string(got) != want || err != nil {
			t.Errorf("%v is %s seconds, %v; want %s", d, got, err, want)
		}
	}
}
