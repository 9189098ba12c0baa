package main

import "github.com/spf13/cobra"

const checkpointHelp = `List, fetch and prune the checkpoints that jobs leave in their output directories.

Known are those of PyTorch (torch.save, distributed), Orbax, safetensors with and
without an index, Hugging Face's Trainer, DeepSpeed, Lightning, TensorFlow, Keras,
Horovod, NumPy, ONNX and GGUF. One is listed only when it is whole: its framework has
finished it, and no file is missing or cut off. Nothing in them is executed.`

func newCheckpoint(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "checkpoint",
		Short: "list, fetch and prune checkpoints",
		Long:  checkpointHelp,
		Example: `  heirloom checkpoint ls train-x7f2
  heirloom checkpoint get train-x7f2@1000 ./resume
  heirloom checkpoint prune train-x7f2 --keep-last 3 --best val.loss`,
	}, newCheckpointLs(a), newCheckpointGet(a), newCheckpointPrune(a))
}
