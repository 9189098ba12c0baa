package index

// LookAtNewest sets how many of the newest runs are looked at one by one.
func (x *Index) LookAtNewest(n int) { x.newest = n }
