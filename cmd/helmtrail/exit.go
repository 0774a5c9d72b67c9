package main

import "errors"

// Exit codes of commands that compare or verify. As with diff(1), 1 is a result;
// a greater code means trouble.
const (
	codeDiffers = 1
	codeTrouble = 3
)

// errDiffers is returned when a comparison found and printed differences.
var errDiffers = errors.New("there are differences")

// comparisonError is the error of a comparison or verification that failed.
type comparisonError struct{ err error }

func (e *comparisonError) Error() string { return e.err.Error() }
func (e *comparisonError) Unwrap() error { return e.err }

// compared returns the error of a command that compares.
func compared(differs bool, err error) error {
	switch {
	case err != nil:
		return &comparisonError{err}
	case differs:
		return errDiffers
	}
	return nil
}
