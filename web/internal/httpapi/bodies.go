package httpapi

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

	"github.com/helmtrail/helmtrail"
)

// maxBody is the maximum size of a request's body, in bytes.
const maxBody = 4 << 20

// DecodeBody decodes the request's body as JSON into a struct, whatever its
// Content-Type says. It rejects a field that the struct does not have in exactly
// that spelling. The error names the field. No error quotes a value.
func DecodeBody(c *gin.Context, into any) error {
	data, err := ReadBody(c)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		message := "The body must be a JSON object."
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && len(data) > 0 {
			message = fmt.Sprintf("The body is not valid JSON at byte %d.", syntax.Offset)
		}
		return BadRequest(message)
	}
	if field := unknownField(reflect.TypeOf(into), fields, ""); field != "" {
		return unknownFieldError(field)
	}
	err = json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return BadField(wrong.Field, wrong.Field+" must be "+kindWord(wrong.Type)+".")
	}
	return err
}

// ReadBody reads a body of at most maxBody bytes.
func ReadBody(c *gin.Context) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, TooLarge(fmt.Sprintf("The body is larger than %d bytes.", maxBody))
	}
	if err != nil {
		return nil, ErrBodyCut
	}
	return data, nil
}

// unknownField returns the path of the first field, in alphabetical order, that
// the struct type t does not have, or "". It is stricter than encoding/json,
// which ignores case.
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
		// json.Unmarshal reports a value that is not an object.
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

// kindWord returns JSON's name for a Go type.
func kindWord(t reflect.Type) string {
	if t == reflect.TypeFor[helmtrail.Choice]() {
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

// DecodeQuery sets the fields of a struct from the parameters with their JSON names. It
// rejects an unknown or repeated parameter; the error names it.
func DecodeQuery(query url.Values, into any) error {
	known := jsonFields(reflect.TypeOf(into))
	for _, name := range slices.Sorted(maps.Keys(query)) {
		field, ok := known[name]
		if !ok {
			return unknownFieldError(name)
		}
		if len(query[name]) > 1 {
			return BadField(name, name+" is given more than once.")
		}
		if !setFromText(reflect.ValueOf(into).Elem().FieldByIndex(field.Index), query[name][0]) {
			return BadField(name, name+" must be "+kindWord(field.Type)+".")
		}
	}
	return nil
}

// setFromText sets a field from a parameter's text. It returns false if the text
// does not fit the field's type.
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
