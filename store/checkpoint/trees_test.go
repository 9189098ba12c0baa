package checkpoint_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/heirloom-ml/heirloom/store/checkpoint"
)

// The trees here are written by these tests, in the shape that each framework documents; what the libraries
// themselves write is in python_test.go.

// tree is one checkpoint, by its files.
type tree struct {
	name   string
	path   string // of the checkpoint
	format checkpoint.Format
	step   int64
	order  []string // of the files, as the framework writes them
	files  map[string][]byte
	// free are files of the tree that the checkpoint does not need, or whose absence nothing tells of.
	free []string
	// opaque are files that do not tell that they were cut.
	opaque []string
}

func (tr *tree) add(name string, body []byte) {
	if tr.files == nil {
		tr.files = map[string][]byte{}
	}
	tr.order = append(tr.order, name)
	tr.files[name] = body
}

func trees(t testing.TB) []*tree {
	return slicesOf(
		orbaxTree(), dcpTree(), trainerTree(t), trainerShardedTree(t), adapterTree(t), modelOnlyTree(t), deepSpeedTree(t, 1), deepSpeedTree(t, 3),
		lightningTree(t), tensorFlowTree(), savedModelTree(), shardedTree(), horovodTree(), horovodTFTree(),
		single("checkpoints/step_000300.safetensors", checkpoint.Safetensors, 300, safetensors("w")),
		single("checkpoints/model-12.pt", checkpoint.Torch, 12, torchFile(t, nil)),
		single("ckpt/weights.7.npz", checkpoint.NumPy, 7, torchFile(t, nil)),
		single("epoch-3.keras", checkpoint.Keras, 3, torchFile(t, nil)),
		single("checkpoints/iter_0000100/weights.h5", checkpoint.Keras, 100, hdf5()),
		single("checkpoints/net-5.onnx", checkpoint.ONNX, 5, onnx()),
		single("checkpoints/q-6.gguf", checkpoint.GGUF, 6, gguf()),
		single("checkpoint", checkpoint.Horovod, checkpoint.NoStep, torchFile(t, nil)),
	)
}

func slicesOf(list ...*tree) []*tree { return list }

func single(name string, format checkpoint.Format, step int64, body []byte) *tree {
	tr := &tree{name: name, path: name, format: format, step: step}
	tr.add(name, body)
	return tr
}

func lightningTree(t testing.TB) *tree {
	return single("lightning_logs/version_0/checkpoints/epoch=1-step=938.ckpt", checkpoint.Lightning, 938, torchFile(t, nil))
}

func horovodTree() *tree {
	return single("checkpoint.h5", checkpoint.Horovod, checkpoint.NoStep, hdf5())
}

func horovodTFTree() *tree {
	tr := savedModelTree()
	return tr.moved("horovod checkpoint.tf", "checkpoint.tf", checkpoint.NoStep)
}

// moved is the tree under another path.
func (tr *tree) moved(name, path string, step int64) *tree {
	to := &tree{name: name, path: path, format: tr.format, step: step}
	for _, file := range tr.order {
		to.add(path+file[len(tr.path):], tr.files[file])
	}
	for _, file := range tr.free {
		to.free = append(to.free, path+file[len(tr.path):])
	}
	return to
}

func orbaxTree() *tree {
	tr := &tree{name: "orbax", path: "run/checkpoints/20", format: checkpoint.Orbax, step: 20}
	in := func(name, body string) { tr.add(tr.path+"/"+name, []byte(body)) }
	in("state/_METADATA", `{"tree_metadata": {}, "use_ocdbt": true, "use_zarr3": false}`)
	in("state/ocdbt.process_0/d/9b2f", "values")
	in("state/ocdbt.process_0/manifest.ocdbt", manifest())
	in("state/d/6875", "values")
	in("state/manifest.ocdbt", manifest())
	in("state/commit_success.txt", "Checkpoint commit was successful")
	in("metrics/metrics", `{"loss": 0.25}`)
	in("metrics/commit_success.txt", "Checkpoint commit was successful")
	in("_CHECKPOINT_METADATA", `{"item_handlers": {"state": "S", "metrics": "J"}, "metrics": {"loss": 0.25}, "commit_timestamp_nsecs": 17}`)
	in("commit_success.txt", "Checkpoint commit was successful")
	// The names of data files stand in the manifest's compressed tree.
	tr.free = []string{tr.path + "/state/d/6875", tr.path + "/state/ocdbt.process_0/d/9b2f"}
	tr.opaque = []string{"state/commit_success.txt", "metrics/commit_success.txt", "metrics/metrics", "commit_success.txt"}
	for i := range tr.opaque {
		tr.opaque[i] = tr.path + "/" + tr.opaque[i]
	}
	return tr
}

func manifest() string {
	b := []byte{0x0c, 0xdb, 0x3a, 0x2a}
	b = binary.LittleEndian.AppendUint64(b, 40)
	return string(append(b, make([]byte, 28)...))
}

func dcpTree() *tree {
	tr := &tree{name: "torch dcp", path: "checkpoints/step-40", format: checkpoint.DCP, step: 40}
	tr.add("checkpoints/step-40/__0_0.distcp", make([]byte, 96))
	tr.add("checkpoints/step-40/__1_0.distcp", make([]byte, 64))
	tr.add("checkpoints/step-40/.metadata", dcpMetadata())
	return tr
}

// dcpMetadata is a pickle of the parts of torch.distributed.checkpoint.metadata.Metadata that matter.
func dcpMetadata() []byte {
	p := &pickled{}
	p.raw("\x80\x02(")
	for _, e := range []struct {
		file           string
		offset, length int
	}{{"__0_0.distcp", 0, 64}, {"__0_0.distcp", 64, 32}, {"__1_0.distcp", 0, 64}} {
		p.raw("ctorch.distributed.checkpoint.filesystem\n_StorageInfo\n)\x81}(")
		p.text("relative_path")
		p.text(e.file)
		p.text("offset")
		p.number(e.offset)
		p.text("length")
		p.number(e.length)
		p.raw("ub")
	}
	p.raw("l.")
	return p.Bytes()
}

// pickled writes pickles of protocol 2, as torch.save does.
type pickled struct {
	bytes.Buffer
	memo map[string]byte
}

func (p *pickled) raw(s string) { p.WriteString(s) }

// text writes a string once and names it after.
func (p *pickled) text(s string) {
	if i, ok := p.memo[s]; ok {
		p.Write([]byte{'h', i})
		return
	}
	if p.memo == nil {
		p.memo = map[string]byte{}
	}
	p.memo[s] = byte(len(p.memo))
	p.Write(binary.LittleEndian.AppendUint32([]byte{'X'}, uint32(len(s))))
	p.WriteString(s)
	p.Write([]byte{'q', p.memo[s]})
}

func (p *pickled) number(n int) { p.Write(binary.LittleEndian.AppendUint32([]byte{'J'}, uint32(n))) }

func trainerTree(t testing.TB) *tree {
	tr := &tree{name: "hugging face trainer", path: "checkpoint-500", format: checkpoint.HuggingFace, step: 500}
	in := func(name string, body []byte) { tr.add(tr.path+"/"+name, body) }
	in("config.json", []byte(`{"model_type": "gpt2"}`))
	in("model.safetensors", safetensors("w"))
	trainerRest(t, in, 500)
	return tr
}

func trainerRest(t testing.TB, in func(string, []byte), step int) {
	in("training_args.bin", torchFile(t, map[string]bool{"save_only_model": false}))
	in("optimizer.pt", torchFile(t, nil))
	in("scheduler.pt", torchFile(t, nil))
	in("rng_state.pth", torchFile(t, nil))
	in("trainer_state.json", fmt.Appendf(nil, `{"global_step": %d, "log_history": [{"step": 1, "loss": 2.5}, {"step": %d, "eval_loss": NaN, "loss": 0.5}]}`, step, step))
}

func trainerShardedTree(t testing.TB) *tree {
	tr := &tree{name: "hugging face trainer, sharded", path: "out/checkpoint-1000", format: checkpoint.HuggingFace, step: 1000}
	in := func(name string, body []byte) { tr.add(tr.path+"/"+name, body) }
	in("config.json", []byte(`{"model_type": "gpt2"}`))
	in("model-00001-of-00002.safetensors", safetensors("a"))
	in("model-00002-of-00002.safetensors", safetensors("b"))
	in("model.safetensors.index.json", indexJSON("a", "b"))
	trainerRest(t, in, 1000)
	return tr
}

func adapterTree(t testing.TB) *tree {
	tr := &tree{name: "hugging face trainer, adapter", path: "checkpoint-7", format: checkpoint.HuggingFace, step: 7}
	in := func(name string, body []byte) { tr.add(tr.path+"/"+name, body) }
	in("adapter_config.json", []byte(`{"peft_type": "LORA"}`))
	in("adapter_model.safetensors", safetensors("w"))
	trainerRest(t, in, 7)
	return tr
}

func modelOnlyTree(t testing.TB) *tree {
	tr := &tree{name: "hugging face trainer, model only", path: "checkpoint-8", format: checkpoint.HuggingFace, step: 8}
	in := func(name string, body []byte) { tr.add(tr.path+"/"+name, body) }
	in("config.json", []byte(`{}`))
	in("model.safetensors", safetensors("w"))
	in("training_args.bin", torchFile(t, map[string]bool{"save_only_model": true}))
	in("trainer_state.json", []byte(`{"global_step": 8, "log_history": []}`))
	return tr
}

// deepSpeedTree is of 2 ranks of data and 2 of model parallelism.
func deepSpeedTree(t testing.TB, stage int) *tree {
	tr := &tree{name: fmt.Sprintf("deepspeed, stage %d", stage), path: "ds/global_step60", format: checkpoint.DeepSpeed, step: 60}
	states := torchFile(t, map[string]int{"dp_world_size": 2, "mp_world_size": 2})
	for model := range 2 {
		if stage < 3 {
			tr.add(fmt.Sprintf("%s/mp_rank_%02d_model_states.pt", tr.path, model), states)
		}
		for data := range 2 {
			if stage == 3 {
				tr.add(fmt.Sprintf("%s/zero_pp_rank_%d_mp_rank_%02d_model_states.pt", tr.path, data, model), states)
			}
			tr.add(fmt.Sprintf("%s/bf16_zero_pp_rank_%d_mp_rank_%02d_optim_states.pt", tr.path, data, model), torchFile(t, nil))
		}
	}
	tr.add("ds/latest", []byte("global_step60"))
	return tr
}

func tensorFlowTree() *tree {
	tr := &tree{name: "tensorflow", path: "tf/ckpt-9", format: checkpoint.TensorFlow, step: 9}
	tr.add("tf/ckpt-9.data-00000-of-00002", make([]byte, 40))
	tr.add("tf/ckpt-9.data-00001-of-00002", make([]byte, 24))
	tr.add("tf/ckpt-9.index", bundleIndex([]int{40, 24}))
	tr.add("tf/checkpoint", []byte("model_checkpoint_path: \"ckpt-9\"\n"))
	tr.free = []string{"tf/checkpoint"}
	return tr
}

func savedModelTree() *tree {
	tr := &tree{name: "savedmodel", path: "checkpoints/export-3", format: checkpoint.SavedModel, step: 3}
	tr.add(tr.path+"/variables/variables.data-00000-of-00001", make([]byte, 16))
	tr.add(tr.path+"/variables/variables.index", bundleIndex([]int{16}))
	tr.add(tr.path+"/saved_model.pb", append([]byte{0x08, 1, 0x12, 20}, "....VarHandleOp....."...))
	tr.add(tr.path+"/fingerprint.pb", []byte{0x08, 1})
	tr.free = []string{tr.path + "/fingerprint.pb"}
	return tr
}

func shardedTree() *tree {
	tr := &tree{name: "safetensors with an index", path: "checkpoints/step-70/model.safetensors.index.json", format: checkpoint.Safetensors, step: 70}
	tr.add("checkpoints/step-70/model-00001-of-00002.safetensors", safetensors("a"))
	tr.add("checkpoints/step-70/model-00002-of-00002.safetensors", safetensors("b"))
	tr.add(tr.path, indexJSON("a", "b"))
	return tr
}

func indexJSON(tensors ...string) []byte {
	files := map[string]string{}
	for i, name := range tensors {
		files[name] = fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(tensors))
	}
	b, _ := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 8}, "weight_map": files})
	return b
}

func safetensors(tensor string) []byte {
	header := fmt.Sprintf(`{%q:{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, tensor)
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, 8)...)
}

// torchFile is what torch.save writes of a dictionary of numbers or truths.
func torchFile(t testing.TB, settings any) []byte {
	t.Helper()
	p := &pickled{}
	p.raw("\x80\x02}(")
	switch settings := settings.(type) {
	case map[string]int:
		for name, n := range settings {
			p.text(name)
			p.number(n)
		}
	case map[string]bool:
		for name, yes := range settings {
			p.text(name)
			p.raw(map[bool]string{true: "\x88", false: "\x89"}[yes])
		}
	}
	p.raw("u.")
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, body := range map[string][]byte{"archive/data.pkl": p.Bytes(), "archive/data/0": make([]byte, 64)} {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func hdf5() []byte {
	b := make([]byte, 200)
	copy(b, "\x89HDF\r\n\x1a\n")
	b[8], b[9] = 2, 8
	binary.LittleEndian.PutUint64(b[12+16:], uint64(len(b)))
	return b
}

func onnx() []byte {
	b := []byte{0x08, 8, 0x3a, 30}
	return append(append(b, make([]byte, 30)...), 0x42, 2, 0x10, 17)
}

func gguf() []byte {
	var b bytes.Buffer
	number := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	text := func(s string) { number(uint64(len(s))); b.WriteString(s) }
	b.WriteString("GGUF")
	number(uint32(3))
	number(uint64(1))
	number(uint64(2))
	text("general.architecture")
	number(uint32(8))
	text("llama")
	text("tokens")
	number(uint32(9))
	number(uint32(8))
	number(uint64(2))
	text("<s>")
	text("</s>")
	text("w")
	number(uint32(2))
	number(uint64(32))
	number(uint64(4))
	number(uint32(8)) // Q8_0: 34 bytes for 32 values
	number(uint64(0))
	b.Write(make([]byte, (32-b.Len()%32)%32))
	b.Write(make([]byte, 4*34))
	return b.Bytes()
}

// bundleIndex is the table of a TensorFlow checkpoint with one tensor in each data file.
func bundleIndex(sizes []int) []byte {
	var out bytes.Buffer
	var data []byte
	entry := func(to []byte, key string, value []byte) []byte {
		to = append(to, 0, byte(len(key)), byte(len(value)))
		return append(append(to, key...), value...)
	}
	data = entry(data, "", []byte{0x08, byte(len(sizes))})
	for i, size := range sizes {
		data = entry(data, fmt.Sprintf("w%d", i), []byte{0x08, 1, 0x18, byte(i), 0x20, 0, 0x28, byte(size), 0x35, 1, 2, 3, 4})
	}
	block := func(b []byte) []byte {
		at := out.Len()
		b = append(b, 0, 0, 0, 0, 1, 0, 0, 0) // one restart, at 0
		out.Write(b)
		out.Write(make([]byte, 5))
		return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(at)), uint64(len(b)))
	}
	dataAt := block(data)
	metaAt := block(nil)
	indexAt := block(entry(nil, "w9", dataAt))
	footer := append(metaAt, indexAt...)
	footer = append(footer, make([]byte, 40-len(footer))...)
	out.Write(binary.LittleEndian.AppendUint64(footer, 0xdb4775248b80fb57))
	return out.Bytes()
}
