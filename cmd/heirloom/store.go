package main

import "github.com/spf13/cobra"

const storeHelp = `Look at the bytes of a store and move them. PATH is a key below the store (--store),
as "runs/train-x7f2/model.bin", or a full URL or absolute path of any place:
s3://bucket/key, hdfs://host/path, /data/dir. "." is the store itself. A slash at
the end of PATH has no meaning. URLs in the bucket of the store are reached by the
same endpoint.`

func newStore(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "store",
		Short: "look at the bytes of a store and move them",
		Long:  storeHelp,
		Example: `  heirloom store ls -l runs
  heirloom store put model.bin models/model.bin
  heirloom store get s3://bucket/models ./models`,
	}, newStoreLs(a), newStoreCat(a), newStorePut(a), newStoreGet(a), newStoreSync(a), newStoreLayout(a), newStoreDu(a), newStoreRm(a), newStoreCheck(a), newStoreCopy(a))
}
