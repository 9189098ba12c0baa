package servers

// Rclone gives the path of the rclone that others are measured with, built if
// this version is not in the cache yet, which takes minutes.
func Rclone() (string, error) {
	return program{name: "rclone", pkg: "github.com/rclone/rclone", version: "v1.75.1"}.path()
}
