package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/stream"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 4 << 20

type upgradeBody struct {
	Chart      stream.Chart    `json:"chart"`
	Values     json.RawMessage `json:"values"`
	ValuesYAML string          `json:"valuesYAML"`
	Options    stream.Options  `json:"options"`
}

// installBody repeats upgradeBody's fields rather than embed it, since
// encoding/json would name the embedded struct in its errors.
type installBody struct {
	Name       string          `json:"name"`
	Chart      stream.Chart    `json:"chart"`
	Values     json.RawMessage `json:"values"`
	ValuesYAML string          `json:"valuesYAML"`
	Options    stream.Options  `json:"options"`
}

type rollbackBody struct {
	Revision int            `json:"revision"`
	Options  stream.Options `json:"options"`
}

// decodeBody reads the request's body into a struct, as JSON whatever its
// Content-Type says. A field that the struct does not have, in exactly that
// spelling, is refused by name. No error quotes a value.
func decodeBody(c *gin.Context, into any) error {
	data, err := readBody(c)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		message := "The body must be a JSON object."
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && len(data) > 0 {
			message = fmt.Sprintf("The body is not valid JSON at byte %d.", syntax.Offset)
		}
		return &apiError{status: http.StatusBadRequest, code: codeBadRequest, message: message}
	}
	if field := unknownField(reflect.TypeOf(into), fields, ""); field != "" {
		return errUnknownField(field)
	}
	err = json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return badRequest(wrong.Field, wrong.Field+" must be "+kindWord(wrong.Type)+".")
	}
	return err
}

// readBody reads a body of at most maxBody bytes.
func readBody(c *gin.Context) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &apiError{
			status: http.StatusRequestEntityTooLarge, code: codeTooLarge,
			message: fmt.Sprintf("The body is larger than %d bytes.", maxBody),
		}
	}
	if err != nil {
		return nil, &apiError{status: http.StatusBadRequest, code: codeBadRequest, message: "The body could not be read to its end."}
	}
	return data, nil
}

func errUnknownField(field string) *apiError {
	return &apiError{
		status: http.StatusBadRequest, code: codeUnknownField,
		message: "There is no field " + strconv.Quote(field) + ".", details: fieldDetails{field},
	}
}

// unknownField returns the path of the first field, in alphabetical order,
// that the struct type t does not have; "" when it has them all. Its own
// spelling rules are stricter than encoding/json's, which ignores case.
func unknownField(t reflect.Type, fields map[string]json.RawMessage, path string) string {
	known := jsonFields(t)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, ok := known[name]
		if !ok {
			return path + name
		}
		if field.Type.Kind() != reflect.Struct {
			continue
		}
		// What is no object is told by the decoding proper.
		var inner map[string]json.RawMessage
		if json.Unmarshal(fields[name], &inner) != nil {
			continue
		}
		if unknown := unknownField(field.Type, inner, path+name+"."); unknown != "" {
			return unknown
		}
	}
	return ""
}

// jsonFields returns a struct's fields by their names in JSON.
func jsonFields(t reflect.Type) map[string]reflect.StructField {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = f
		}
	}
	return fields
}

// kindWord is what a Go type is called in JSON.
func kindWord(t reflect.Type) string {
	if t == reflect.TypeFor[stream.Choice]() {
		return "a word, true or false"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return kindWord(t.Elem())
	default:
		return "a whole number"
	}
}

// decodeQuery reads options from a query. An unknown or repeated parameter is
// refused by name.
func decodeQuery(query url.Values) (stream.Options, error) {
	var options stream.Options
	known := jsonFields(reflect.TypeFor[stream.Options]())
	for _, name := range slices.Sorted(maps.Keys(query)) {
		field, ok := known[name]
		if !ok {
			return options, errUnknownField(name)
		}
		if len(query[name]) > 1 {
			return options, badRequest(name, name+" is given more than once.")
		}
		if !setFromText(reflect.ValueOf(&options).Elem().FieldByIndex(field.Index), query[name][0]) {
			return options, badRequest(name, name+" must be "+kindWord(field.Type)+".")
		}
	}
	return options, nil
}

// setFromText sets an option from a parameter's text; false when it does not
// fit the option's type.
func setFromText(v reflect.Value, text string) bool {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(text == "true")
		return text == "true" || text == "false"
	case reflect.Int:
		n, err := strconv.Atoi(text)
		v.SetInt(int64(n))
		return err == nil
	case reflect.String:
		v.SetString(text)
		return true
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return setFromText(v.Elem(), text)
	default:
		return false
	}
}
