package main

import "errors"

// The exit codes of commands that compare or verify, as those of diff(1): 1 is an
// answer, and trouble is more than that.
const (
	codeDiffers = 1
	codeTrouble = 3
)

// errDiffers means that a comparison has found differences. They are printed.
var errDiffers = errors.New("there are differences")

// comparisonError is why something could not be compared or verified.
type comparisonError struct{ err error }

func (e *comparisonError) Error() string { return e.err.Error() }
func (e *comparisonError) Unwrap() error { return e.err }

// compared is the error of a command that compares.
func compared(differs bool, err error) error {
	switch {
	case err != nil:
		return &comparisonError{err}
	case differs:
		return errDiffers
	}
	return nil
}
