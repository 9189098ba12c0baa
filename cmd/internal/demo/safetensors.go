package demo

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// maxHeader bounds the header of a safetensors file, as its reference reader does.
const maxHeader = 100 << 20

// tensor is one entry of the header of a safetensors file.
type tensor struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"` // begin and end in the data after the header, bytes
}

// named is one tensor with its values.
type named struct {
	name   string
	shape  []int
	values []float32
}

func (n *network) tensors() []named {
	return []named{
		{"hidden.weight", []int{n.hidden, inputs}, n.w1},
		{"hidden.bias", []int{n.hidden}, n.b1},
		{"output.weight", []int{classes, n.hidden}, n.w2},
		{"output.bias", []int{classes}, n.b2},
	}
}

// encodeModel writes n as safetensors: the length of the header in eight bytes,
// little endian; the header, JSON padded with spaces to a multiple of eight;
// then the values. notes become the header's __metadata__.
func encodeModel(n *network, notes map[string]string) ([]byte, error) {
	header := map[string]any{"__metadata__": notes}
	var data []byte
	for _, t := range n.tensors() {
		begin := len(data)
		for _, v := range t.values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		header[t.name] = tensor{Type: "F32", Shape: t.shape, Offsets: [2]int{begin, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return slices.Concat(out, text, data), nil
}

// decodeModel reads what encodeModel wrote, and checks every length and shape.
func decodeModel(body []byte) (*network, map[string]string, error) {
	header, data, err := splitHeader(body)
	if err != nil {
		return nil, nil, err
	}
	notes := make(map[string]string)
	if raw, ok := header["__metadata__"]; ok {
		if err := json.Unmarshal(raw, &notes); err != nil {
			return nil, nil, fmt.Errorf("__metadata__: %w", err)
		}
	}
	hidden, err := strconv.Atoi(notes["hidden"])
	if err != nil || hidden < 1 || hidden*inputs*4 > len(data) {
		return nil, nil, fmt.Errorf("a hidden layer of %q units in %d bytes", notes["hidden"], len(data))
	}
	n := newNetwork(hidden)
	used := 0
	for _, t := range n.tensors() {
		if err := t.fill(header[t.name], data); err != nil {
			return nil, nil, fmt.Errorf("tensor %s: %w", t.name, err)
		}
		used += 4 * len(t.values)
	}
	if used != len(data) {
		return nil, nil, fmt.Errorf("%d bytes of data, of which the tensors take %d", len(data), used)
	}
	return n, notes, nil
}

func splitHeader(body []byte) (map[string]json.RawMessage, []byte, error) {
	if len(body) < 8 {
		return nil, nil, fmt.Errorf("%d bytes are too few for a safetensors file", len(body))
	}
	size := binary.LittleEndian.Uint64(body)
	if size > maxHeader || size > uint64(len(body)-8) {
		return nil, nil, fmt.Errorf("a header of %d bytes in a file of %d", size, len(body))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(body[8:8+size], &header); err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	return header, body[8+size:], nil
}

// fill reads the values of t, whose entry in the header is raw.
func (t named) fill(raw json.RawMessage, data []byte) error {
	var entry tensor
	if err := json.Unmarshal(raw, &entry); err != nil {
		return err
	}
	begin, end := entry.Offsets[0], entry.Offsets[1]
	if entry.Type != "F32" || !slices.Equal(entry.Shape, t.shape) {
		return fmt.Errorf("%s%v in place of F32%v", entry.Type, entry.Shape, t.shape)
	}
	if begin < 0 || end > len(data) || end-begin != 4*len(t.values) {
		return fmt.Errorf("bytes %d to %d of %d for %d values", begin, end, len(data), len(t.values))
	}
	for i := range t.values {
		t.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[begin+4*i:]))
	}
	return nil
}
