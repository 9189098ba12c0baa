package servers

// Rclone gives the path of the rclone that others are measured with, built if
// this version is not in the cache yet, which takes minutes.
func Rclone() (string, error) {
	return program{"rclone", "github.com/rclone/rclone", "v1.75.1"}.path()
}
