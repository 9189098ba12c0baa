package dataset

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// maxEpoch is the highest epoch that fits into the 12 digits of a name.
const maxEpoch = 999_999_999_999

// newUUID makes the uuid that the files of one claim share: version 8, which
// leaves its contents to us, random but for the last 12 digits, which are the
// epoch in decimal.
func newUUID(epoch int64) (string, error) {
	if epoch < 0 || epoch > maxEpoch {
		return "", fmt.Errorf("epoch %d does not fit into a file name", epoch)
	}
	var random [10]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	random[6] = random[6]&0x0f | 0x80 // version 8
	random[8] = random[8]&0x3f | 0x80 // variant of RFC 9562
	x := hex.EncodeToString(random[:])
	return fmt.Sprintf("%s-%s-%s-%s-%012d", x[:8], x[8:12], x[12:16], x[16:20], epoch), nil
}

// partName follows Spark: number of the part, the writer's uuid, and c000 for
// the first file of a task.
func partName(n int, uuid, compression string) string {
	return fmt.Sprintf("part-%05d-%s-c000.%s.parquet", n, uuid, compression)
}

var partPattern = pattern.Lazy(`^part-\d{5,}-[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-(\d{12})-c000\.(?:zstd|snappy)\.parquet$`)

// partEpoch returns the epoch in a name that partName made, and whether it is
// such a name.
func partEpoch(name string) (int64, bool) {
	match := partPattern().FindStringSubmatch(name)
	if match == nil {
		return 0, false
	}
	epoch, err := strconv.ParseInt(match[1], 10, 64)
	return epoch, err == nil
}
