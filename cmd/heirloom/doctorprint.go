package main

import (
	"fmt"

	"github.com/heirloom-ml/heirloom/cmd/internal/doctor"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// found is one check, as doctor prints it.
type found struct {
	Check   string  `json:"check"`
	Status  string  `json:"status"`
	Message string  `json:"message"`
	Advice  *string `json:"advice"`
}

// examined is what doctor prints as JSON.
type examined struct {
	Checks   []found   `json:"checks"`
	Failed   int       `json:"failed"`
	Promises *promises `json:"capabilities"`
}

// promises is what the store's kind promises, as doctor prints it.
type promises struct {
	AtomicCreate   bool `json:"atomic_create"`
	AtomicPut      bool `json:"atomic_put"`
	Replace        bool `json:"replace"`
	Append         bool `json:"append"`
	Durable        bool `json:"durable"`
	Resume         bool `json:"resume"`
	CoarseVersion  bool `json:"coarse_version"`
	ServerChecksum bool `json:"server_checksum"`
}

func newPromises(c store.Capabilities) *promises {
	return &promises{
		AtomicCreate: c.AtomicCreate, AtomicPut: c.AtomicPut, Replace: c.Replace, Append: c.Append, Durable: c.Durable,
		Resume: c.Resume, CoarseVersion: c.CoarseVersion, ServerChecksum: c.ServerChecksum,
	}
}

// findings prints for people as they come, and documents at the end.
type findings struct {
	a      *app
	format render.Format
	list   []doctor.Finding
	// promises is nil where no store could be opened.
	promises *promises
}

func (p *findings) add(f doctor.Finding) {
	f.Message, f.Advice = oneLine(store.Redact(f.Message)), store.Redact(f.Advice)
	p.list = append(p.list, f)
	if p.format != render.Table {
		return
	}
	text := fmt.Sprintf("%-8s %-17s %s", f.Status, f.Check, render.Sanitize(f.Message))
	if f.Advice != "" {
		text += fmt.Sprintf("\n%26s → %s", "", render.Sanitize(f.Advice))
	}
	fmt.Fprintln(p.a.stdout, p.color(f.Status, text))
}

// color paints a line on a terminal.
func (p *findings) color(status doctor.Status, text string) string {
	paint := map[doctor.Status]string{doctor.Failed: red, doctor.Warning: yellow}[status]
	if paint == "" || !p.a.style(p.a.stdout).Color {
		return text
	}
	return paint + text + "\x1b[0m"
}

// finish prints the document, if one was asked for, and gives the verdict.
func (p *findings) finish() error {
	broken := failures(p.list)
	if p.format != render.Table {
		document := examined{Failed: len(broken), Promises: p.promises}
		for _, f := range p.list {
			one := found{Check: f.Check, Status: string(f.Status), Message: f.Message}
			if f.Advice != "" {
				one.Advice = &f.Advice
			}
			document.Checks = append(document.Checks, one)
		}
		if err := p.a.printJSON(document); err != nil {
			return err
		}
	}
	return verdict(broken, len(p.list))
}
