package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// claim makes known what a replica is about to send, and only then looks at what
// others hold or are about to send: of two that want one key at the same time at
// least one sees the other.
func (p *syncPass) claim(ctx context.Context, u *syncUnit) {
	var about []*syncItem
	for _, item := range u.items {
		if p.opts.Replica != "" && !item.sent && !item.busy && item.digest != "" {
			about = append(about, item)
		}
	}
	if len(about) == 0 {
		return
	}
	err := p.writeManifest(ctx, about)
	if err == nil {
		err = p.readOthers(ctx)
	}
	for _, item := range about {
		if err != nil {
			p.fail(item, err)
			continue
		}
		if other, ok := p.differing(item); ok {
			p.fail(item, &Error{Op: "sync", Key: string(p.key(item.path)), Kind: ErrConflict,
				Err: fmt.Errorf("replicas %q and %q hold different bytes", p.opts.Replica, other)})
		}
	}
}

func (p *syncPass) differing(item *syncItem) (replica string, found bool) {
	for replica, files := range p.others {
		if e, ok := files[item.path]; ok && e.SHA256 != item.digest {
			return replica, true
		}
	}
	return "", false
}

// readOthers fetches the manifests of the other replicas.
func (p *syncPass) readOthers(ctx context.Context) error {
	p.others = map[string]manifest{}
	own := SyncManifest(p.prefix, p.opts.Replica)
	for obj, err := range p.store.List(ctx, string(p.prefix.Join(ownDir))+"/manifest") {
		if err != nil {
			return err
		}
		if obj.Key == own || !strings.HasSuffix(string(obj.Key), ".json") {
			continue
		}
		body, err := p.store.Get(ctx, obj.Key)
		if err != nil && !errors.Is(err, ErrNotExist) {
			return err
		}
		replica, files := parseManifest(body)
		p.others[replica] = files
	}
	return nil
}

// heldByOther says whether another replica still has a file; when that cannot be
// told, yes.
func (p *syncPass) heldByOther(ctx context.Context, path string) bool {
	if p.opts.Replica == "" {
		return false
	}
	if p.others == nil {
		if err := p.readOthers(ctx); err != nil {
			p.errs = append(p.errs, err)
			return true
		}
	}
	for _, files := range p.others {
		if _, ok := files[path]; ok {
			return true
		}
	}
	return false
}
