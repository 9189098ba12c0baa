package process

// Limits are what the kernel lets a process have, together with all that it starts. The
// zero value is all it can get.
type Limits struct {
	CPUs   int   // 0 = no limit
	Memory int64 // bytes, without swap; 0 = no limit. Who goes beyond is killed whole
}

// controllers are those of the kernel that keep these limits.
func (l Limits) controllers() []string {
	var list []string
	if l.CPUs > 0 {
		list = append(list, "cpu")
	}
	if l.Memory > 0 {
		list = append(list, "memory")
	}
	return list
}
