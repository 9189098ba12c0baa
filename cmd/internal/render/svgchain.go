package render

// minChain is from how many nodes on, each with one link in and one out, a chain stands in one frame: else a drawing of a
// thousand steps were as wide as a street.
const minChain = 24

// chains puts long unbranched chains of nodes that stand alone together, each in its order, in the place of the first
// of its nodes. rows has the first nodes of what it made.
func (p *picture) chains(groups [][]string) (folded [][]string, rows map[string]bool) {
	next := p.inner(groups)
	follows := map[string]bool{}
	for id, to := range next {
		if _, ok := next[to]; ok && to != id {
			follows[to] = true
		}
	}
	rows = map[string]bool{}
	chain, gone := map[string][]string{}, map[string]bool{}
	for id := range next {
		if follows[id] {
			continue
		}
		members := []string{id}
		for at, ok := next[id]; ok && next[at] != ""; at, ok = next[at] {
			members = append(members, at)
		}
		if len(members) < minChain {
			continue
		}
		rows[id], chain[id] = true, members
		for _, member := range members[1:] {
			gone[member] = true
		}
	}
	for _, members := range groups {
		switch first := members[0]; {
		case rows[first]:
			folded = append(folded, chain[first])
		case !gone[first]:
			folded = append(folded, members)
		}
	}
	return folded, rows
}

// inner gives for each node within a chain the one behind it: nodes that stand alone, other than the root, from one other
// node to one other.
func (p *picture) inner(groups [][]string) map[string]string {
	before, behind := map[string]map[string]bool{}, map[string]map[string]bool{}
	note := func(m map[string]map[string]bool, id, other string) {
		if m[id] == nil {
			m[id] = map[string]bool{}
		}
		m[id][other] = true
	}
	for _, a := range p.arrows {
		note(behind, a.from, a.to)
		note(before, a.to, a.from)
	}
	next := map[string]string{}
	for _, members := range groups {
		id := members[0]
		if len(members) > 1 || id == p.sub.Root || len(before[id]) != 1 || len(behind[id]) != 1 || behind[id][id] {
			continue
		}
		for to := range behind[id] {
			next[id] = to
		}
	}
	return next
}
