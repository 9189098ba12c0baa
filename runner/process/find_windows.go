package process

import "os/exec"

// Find gives the file that Args[0] names, by the rules of this system. It fails
// with ErrNotFound or ErrNotExecutable.
func (s *Spec) Find() (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	file, err := exec.LookPath(s.Args[0])
	if err != nil {
		return "", startError(s.Args[0], err)
	}
	return file, nil
}
