package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// oldUpload is the age from which on nobody is likely to go on with an upload.
const oldUpload = 24 * time.Hour

// leftovers counts long writes that were begun and never ended: they cost space and are in no listing.
func (e *examination) leftovers(ctx context.Context) Finding {
	var old, young int
	for u, err := range e.Store.Unfinished(ctx, "") {
		if errors.Is(err, store.ErrPermission) {
			return skipped("the credentials may not list unfinished uploads")
		}
		if err != nil {
			return explain("list unfinished uploads", err)
		}
		if e.Now().Sub(u.Begun) > oldUpload {
			old++
		} else {
			young++
		}
	}
	switch {
	case old > 0:
		return warning(fmt.Sprintf("%d uploads were begun more than a day ago and never ended; they cost space", old),
			"have the bucket's lifecycle abort incomplete uploads after some days")
	case young > 0:
		return ok(fmt.Sprintf("%d uploads are under way or were broken off today", young))
	}
	return ok("none")
}
