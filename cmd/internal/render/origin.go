package render

import (
	"io"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Origin is where bytes come from.
type Origin struct {
	Digest       string            // hexadecimal
	File         string            // what was hashed, "" if nothing was
	Size         int64             // in bytes, -1 = not known
	Names        []lineage.Content // artifacts and inputs that are these bytes, as lineage.SortContents orders them
	Chain        *lineage.Subgraph // the answer to what the content came from
	Completeness *Completeness     // nil = not known
}

// Write prints it in one of LineageFormats: for people and in JSON with the makers, otherwise its chain alone.
func (o Origin) Write(w io.Writer, f Format, s Style) error {
	switch f {
	case Tree:
		if _, err := io.WriteString(w, o.text(s)); err != nil {
			return err
		}
		return Lineage(w, o.Chain, f, s)
	case JSON:
		return Document(w, o.document(), f)
	}
	return Lineage(w, o.Chain, f, s)
}

// origin is the answer in JSON; docs/json.md tells of each field.
type origin struct {
	Digest       string        `json:"digest"`
	File         *string       `json:"file"`
	Size         *int64        `json:"size_bytes"`
	Makers       []originMaker `json:"makers"`
	Inputs       []originInput `json:"inputs"`
	Lineage      graph         `json:"lineage"`
	Completeness *Completeness `json:"completeness,omitempty"`
}

type originMaker struct {
	Run      tracker.RunID `json:"run"`
	Artifact string        `json:"artifact"`
	Path     string        `json:"path"`
	Kind     string        `json:"kind"`
	Started  stamp         `json:"started"`
}

type originInput struct {
	ID     tracker.RunID   `json:"id"`
	URI    *string         `json:"uri"`
	UsedBy []tracker.RunID `json:"used_by"`
}

func (o Origin) document() origin {
	doc := origin{Digest: "sha256:" + o.Digest, File: maybe(o.File), Makers: []originMaker{}, Inputs: []originInput{}, Lineage: newGraph(o.Chain, nil), Completeness: o.Completeness}
	if o.Size >= 0 {
		doc.Size = &o.Size
	}
	for _, c := range o.Names {
		if c.Input != "" {
			doc.Inputs = append(doc.Inputs, originInput{c.Input, maybe(c.Path), append([]tracker.RunID{}, c.UsedBy...)})
			continue
		}
		doc.Makers = append(doc.Makers, originMaker{c.Run, c.Artifact, c.Path, c.Kind, stamp(c.Started)})
	}
	return doc
}

// text lists the names of the bytes.
func (o Origin) text(s Style) string {
	p := &page{style: s}
	head := "sha256:" + o.Digest
	if o.Size >= 0 {
		head += "  " + Size(o.Size).String()
	}
	p.line(head)
	makers := List{Columns: []Column{{Name: "run"}, {Name: "artifact"}, {Name: "started"}, {Name: "path"}}}
	inputs := List{Columns: []Column{{Name: "input"}, {Name: "used by"}}}
	for _, c := range o.Names {
		if c.Input != "" {
			inputs.Rows = append(inputs.Rows, []any{c.Input, len(c.UsedBy)})
			continue
		}
		makers.Rows = append(makers.Rows, []any{c.Run, c.Artifact, c.Started, c.Path})
	}
	p.list("made by", makers)
	p.list("used as", inputs)
	p.line("")
	return p.b.String()
}
