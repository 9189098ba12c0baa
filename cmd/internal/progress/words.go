package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

// words reads "37%  1.2 GiB of 3.4 GiB  83.0 MiB/s  25s left  12 of 5000 files". What is unknown is left out.
func words(p store.Progress) string {
	var parts []string
	if p.Checked < p.CheckedTotal {
		parts = append(parts, fmt.Sprintf("reading: %s of %s", render.Size(p.Checked), render.Size(p.CheckedTotal)))
	}
	if p.BytesTotal > 0 {
		parts = append(parts, fmt.Sprintf("%3d%%  %s of %s", percent(p), render.Size(p.Bytes), render.Size(p.BytesTotal)))
	} else {
		parts = append(parts, render.Size(p.Bytes).String())
	}
	if p.Rate > 0 {
		parts = append(parts, render.Size(p.Rate).String()+"/s")
	}
	if p.ETA > 0 {
		parts = append(parts, clock(p.ETA)+" left")
	}
	if p.FilesTotal > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d files", p.Files, p.FilesTotal))
	}
	return strings.Join(parts, "  ")
}

func percent(p store.Progress) int64 {
	return min(100, int64(float64(p.Bytes)/float64(p.BytesTotal)*100))
}

// clock writes a time to wait: 25s, 4m05s, 3h07m.
func clock(d time.Duration) string {
	switch s := int(d.Round(time.Second).Seconds()); {
	case s < 60:
		return fmt.Sprintf("%ds", max(1, s))
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
}

// cut keeps the first columns of plain ASCII text, all of it if the width is not known.
func cut(text string, columns int) string {
	if columns <= 0 || len(text) <= columns {
		return text
	}
	return text[:columns]
}

// Summary is what was moved in all.
type Summary struct {
	store.Progress
	Took time.Duration
}

// String reads "12 files, 1.0 GiB in 12.3 s (83.2 MiB/s)", and what an earlier try had moved.
func (s Summary) String() string {
	files := fmt.Sprintf("%d files", s.Files)
	if s.Files == 1 {
		files = "1 file"
	}
	text := fmt.Sprintf("%s, %s in %.1f s", files, render.Size(s.Bytes), s.Took.Seconds())
	if moved := s.Bytes - s.Resumed; moved > 0 && s.Took > 0 {
		text += fmt.Sprintf(" (%s/s)", render.Size(float64(moved)/s.Took.Seconds()))
	}
	if s.Resumed > 0 {
		text += fmt.Sprintf("; resumed: %s were there already", render.Size(s.Resumed))
	}
	return text
}
