package store_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/planted"
)

// TestKindsOfSecrets takes each kind of secret out of each place.
func TestKindsOfSecrets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range planted.Many(random, 0, max(storetest.Rounds(10_000), planted.Kinds())) {
		args := store.RedactArgs(s.Args)
		for what, text := range map[string]string{
			"arguments": strings.Join(args, "\x00"), "text": store.Redact(strings.Join(s.Args, " ")),
			"variable": strings.Join(store.RedactEnv([]string{s.Env}), ""), "URL": store.RedactURL(s.URL),
		} {
			for _, hidden := range s.Hidden {
				if strings.Contains(text, hidden) {
					t.Errorf("%s: %q is still in the %s %q of %q", s.Kind, hidden, what, text, s.Args)
				}
			}
			if again := store.Redact(text); what != "arguments" && again != text {
				t.Errorf("%s: not idempotent: %q becomes %q", s.Kind, text, again)
			}
		}
		if again := store.RedactArgs(args); !slices.Equal(again, args) {
			t.Errorf("%s: not idempotent: %q becomes %q", s.Kind, args, again)
		}
	}
}

// TestOrdinaryArguments leaves alone what people write every day: what is taken
// out of a command line cannot be run again.
func TestOrdinaryArguments(t *testing.T) {
	for line := range strings.Lines(ordinary) {
		argv := strings.Fields(line)
		if got := store.RedactArgs(argv); !slices.Equal(got, argv) {
			t.Errorf("RedactArgs changes %q\nto %q", argv, got)
		}
		if got := store.Redact(line); got != line {
			t.Errorf("Redact changes %q\nto %q", line, got)
		}
	}
	environ := []string{
		"CUDA_VISIBLE_DEVICES=0,1", "MASTER_ADDR=node-1", "NCCL_SOCKET_IFNAME=eth0", "SLURM_JOB_NODELIST=n[1-4]",
		"TF_CPP_MIN_LOG_LEVEL=2", "TORCHELASTIC_RUN_ID=job-7", "XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda",
	}
	if got := store.RedactEnv(environ); !slices.Equal(got, environ) {
		t.Errorf("RedactEnv changes %q\nto %q", environ, got)
	}
	for line := range strings.Lines(places) {
		if place := strings.TrimSpace(line); store.RedactURL(place) != place {
			t.Errorf("RedactURL changes %q\nto %q", place, store.RedactURL(place))
		}
	}
}

const ordinary = `python train.py --lr 0.1 --batch-size 32 --epochs 10 --seed 7 --resume checkpoints/last.pt
torchrun --nnodes=2 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-endpoint=node-1:29400 --rdzv-id=job-7 train.py
accelerate launch --config_file fsdp.yaml --num_processes 8 --main_process_port 29501 run_clm.py
deepspeed --num_gpus=8 train.py --deepspeed ds_config.json --zero-stage 3 --gradient-accumulation-steps 4
srun --ntasks=16 --gpus-per-node=8 --partition=a100 --account=ml-research --time=12:00:00 python train.py
sbatch --array=0-9%4 --export=ALL,SEED=3 job.sh
spark-submit --master yarn --deploy-mode cluster --conf spark.executor.memory=16g --conf spark.sql.shuffle.partitions=2000 etl.py
vllm serve org/model --max-model-len 8192 --tensor-parallel-size 4 --max-num-batched-tokens 16384 --tokenizer-mode auto
python -m lm_eval --model hf --tasks hellaswag,gsm8k --num_fewshot 5 --batch_size auto --log_samples
fairseq-train data-bin --arch transformer --max-tokens 4096 --tokens-per-sample 512 --update-freq 4 --share-all-embeddings
python finetune.py --tokenizer bert-base-uncased --tokenizer_name gpt2 --pad_token <pad> --eos_token </s> --bos-token <s> --unk_token=[UNK] --mask-token [MASK]
python finetune.py --max_new_tokens 256 --num_tokens 1000000 --total-tokens=300B --token_dropout 0.1 --token-type-ids 2 --special_tokens map.json --stop-tokens 3
python esm.py --token-level --prefix-tokens 8 --cls_token cls --token_budget 4096 --tokens 512 --image_token_id 32000 --class-token true
python dp.py --private --noise-multiplier 1.1 --max-grad-norm 1.0 --secure-rng
python train.py --private data.csv --session-name exp --session-config s.json --pass-rate 0.9 --pass_at 1 --n-pass 3 --passes 2 --bypass 1 --compass n
python export.py --signature-def serving_default --signature_key serving_default --saved_model_dir out/1
python train.py --auth-mode iam --auth-provider oidc --token-file /run/t --password-file p --token-url https://h/oauth --secret-name db --secret-scope ml --credentials-file c.json --token-env HF_TOKEN
docker run --rm -p 8080:80 -u 1000:1000 -e SEED=3 -v /data:/data org/image:1.2 python train.py
docker login --username ann --password-stdin registry.example.com
kubectl apply -f job.yaml -n ml --context prod
aws s3 cp s3://bucket/key /tmp/key --no-sign-request --region eu-west-1
git clone https://github.com/org/repo.git --branch main --depth 1
git clone git@github.com:org/repo.git
ssh -p 2222 -i ~/.ssh/id_ed25519 ann@host nvidia-smi
rsync -avz ann@host:/data/ /data/
curl -sSfL -o out.json https://host/path?page=2&limit=100
mysql -u ann -h db -P 3306 runs
python train.py --data s3://bucket/train/part-*.parquet --sort-key timestamp --partition_key date --primary-key id --group-key user --cache-key v2 --key-padding-mask
python train.py +trainer=ddp trainer.max_steps=1000 model.hidden_size=768 ++optim.lr=3e-4 data.split=[0.8,0.1,0.1]
python train.py --author ann --authors ann,bob --keyboard us --secretary bob --monkey 1 --passage text --cookiecutter x
python sweep.py --grid lr=1e-3,1e-4 --metric val/acc --commit 0123456789abcdef0123456789abcdef01234567 --sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
python eval.py --run local://torchx/train-x7fk2q9d --model models:/churn@prod --image repo/img:tag@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
python train.py --uuid 123e4567-e89b-12d3-a456-426614174000 --date 2026-11-21T10:00:00Z --ratio 3:1 --map a:b,c:d
bash -c python train.py --lr 0.1 && echo done > $OUT/done.txt; ls -l | head
bash -c curl -H X-Trace:7 https://host/v1/models --token $HF_TOKEN
env OMP_NUM_THREADS=8 PYTHONPATH=src PWD=/home/ann python train.py --no-auth --use_auth_token --use-auth-token true
python -c print("hello",x=1,end="")
Rscript fit.R --formula y~x+z --family binomial
julia --project=. train.jl --threads auto
make -j8 CFLAGS=-O2 PREFIX=/usr/local
wandb login --relogin --host https://wandb.example.com --verify
python train.py sk-learn-pipeline hf_transformers pypi-package npm_package basic training bearer of news
`

const places = `s3://bucket/date=2026-11-21/part-0.parquet?region=eu-west-1
https://huggingface.co/org/model/resolve/main/model.safetensors?download=true
https://host/path?page=2&limit=100#section
hdfs://ann@nn:8020/data
ssh://git@github.com/org/repo.git
gs://bucket/key
postgres://db:5432/runs?sslmode=require
file:///data/My%20Files/x.csv
`
