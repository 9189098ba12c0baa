package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Parse reads options as they are given on the command line:
//
//	partition=gpu,time=60;nodes=n1,n2,mail-user=me
//
// Pairs are parted by commas or semicolons. What follows one of these and does
// not begin with a key and "=" belongs to the value before, so that lists and texts hold
// commas. A value, or an item of a list or dict, in '…' or "…" is taken as it is,
// and \" in "…" is a quote; elsewhere spaces around it are dropped. The items
// of a dict are key:value. [] is the empty list, {} the empty dict, "" the empty
// text. An empty s is no options. Several calls are put together by Config.Merge.
//
// It does not ask for required options, nor set defaults: see Resolve. What is
// unknown, given twice, ill-formed or of another type is an error of kind store.ErrInvalid.
func (s *OptionSet) Parse(text string) (Config, error) {
	cfg := Config{}
	pairs, err := splitPairs(text)
	if err != nil {
		return nil, fmt.Errorf("read run options `%s`: %w: %w", store.Redact(text), err, store.ErrInvalid)
	}
	for _, p := range pairs {
		o, ok := s.Get(p.key)
		if !ok {
			err := s.unknown(p.key)
			if p.follows {
				err = fmt.Errorf("%w (if it is part of the value before, put that in quotes)", err)
			}
			return nil, err
		}
		if _, twice := cfg[o.Name]; twice {
			return nil, optionError(o.Name, fmt.Errorf("run option %s is given twice", o.Name))
		}
		if cfg[o.Name], err = p.value(o.Type); err != nil {
			return nil, optionError(o.Name, fmt.Errorf("Run option: %s, %w", o.Name, err))
		}
	}
	return cfg, nil
}

// cfgPair is a key and the items of its value, at least one.
type cfgPair struct {
	key     string
	items   []cfgItem
	follows bool // another pair
}

// value makes the items a value of type t.
func (p cfgPair) value(t OptionType) (any, error) {
	switch {
	case t == TypeList || t == TypeDict:
		return itemsValue(t, p.items)
	case len(p.items) == 1 && p.items[0].quoted:
		return t.parse(p.items[0].text)
	}
	var raw strings.Builder
	for _, item := range p.items {
		switch {
		case item.raw == "" && len(p.items) == 1:
			return nil, errors.New(`has no value; an empty text is ""`)
		case item.raw == "":
			return nil, errors.New("has nothing between two delimiters; put a value that holds them in quotes")
		case item.quoted:
			return nil, fmt.Errorf("goes on after or before the quoted %q; put all of it in quotes", item.text)
		}
		raw.WriteString(item.delim + item.raw)
	}
	return t.parse(strings.TrimSpace(raw.String()))
}

// itemsValue is the list or dict of these items. Empty ones are dropped.
func itemsValue(t OptionType, items []cfgItem) (any, error) {
	if len(items) == 1 && !items[0].quoted && (items[0].raw == "[]" || items[0].raw == "{}") {
		items = nil
	} else if items = slices.DeleteFunc(slices.Clone(items), cfgItem.isEmpty); len(items) == 0 {
		return nil, errors.New("has no value; an empty list is [], an empty dict {}")
	}
	if t == TypeDict {
		return dictOf(items)
	}
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = item.text
	}
	return list, nil
}

// cfgItem is what stands between two delimiters.
type cfgItem struct {
	delim      string // before it, with the spaces there; "" = none
	raw        string // as it was written, without the spaces around it
	text       string // the same, but of a quoted one what is in the quotes
	quoted     bool
	key, value string // of an item key:value, quotes taken off
	isPair     bool
}

func (i cfgItem) isEmpty() bool { return i.raw == "" }

// splitPairs parts text into pairs.
func splitPairs(text string) ([]cfgPair, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var pairs []cfgPair
	scan := cfgScanner{rest: text}
	for more := true; more; more = scan.rest != "" {
		delim := scan.delim()
		if key, ok := scan.key(); ok {
			pairs, delim = append(pairs, cfgPair{key: key, follows: len(pairs) > 0}), ""
		}
		if len(pairs) == 0 {
			return nil, errors.New("it does not have at least one `key=value` pair")
		}
		item, err := scan.item()
		if err != nil {
			return nil, err
		}
		item.delim = delim
		last := &pairs[len(pairs)-1]
		last.items = append(last.items, item)
	}
	return pairs, nil
}

// splitItems parts the text of a list or dict into items.
func splitItems(text string) ([]cfgItem, error) {
	var items []cfgItem
	scan := cfgScanner{rest: text}
	for more := true; more; more = scan.rest != "" {
		delim := scan.delim()
		item, err := scan.item()
		if err != nil {
			return nil, err
		}
		item.delim = delim
		items = append(items, item)
	}
	return items, nil
}
