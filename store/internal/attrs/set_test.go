package attrs

import (
	"reflect"
	"testing"

	"gocloud.dev/blob/driver"
)

func TestStoredForm(t *testing.T) {
	opts := &driver.WriterOptions{
		CacheControl: "a", ContentDisposition: "b", ContentEncoding: "c", ContentLanguage: "d", Metadata: map[string]string{"k": "v"},
	}
	set := New("text/x", opts)
	const want = `{"content_type":"text/x","cache_control":"a","content_disposition":"b","content_encoding":"c","content_language":"d","metadata":{"k":"v"}}`
	data := set.Encode("text/plain")
	if string(data) != want {
		t.Errorf("stored as %s\nwant      %s", data, want)
	}
	if back, err := Decode(data); err != nil || !reflect.DeepEqual(back, set) {
		t.Errorf("read back as %+v, %v", back, err)
	}
	if _, err := Decode([]byte("{")); err == nil {
		t.Error("half a form was read")
	}
}

func TestDefaultsStoreNothing(t *testing.T) {
	for _, s := range []Set{{}, {ContentType: "text/plain"}} {
		if data := s.Encode("text/plain"); data != nil {
			t.Errorf("%+v is stored as %s", s, data)
		}
	}
	if back, err := Decode(nil); err != nil || !reflect.DeepEqual(back, Set{}) {
		t.Errorf("nothing is read as %+v, %v", back, err)
	}
}
