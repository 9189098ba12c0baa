package benchlineage

// torchxScript asks TorchX's tracker by its own calls, and prints how many things it found and in how many seconds, its
// own start left out.
const torchxScript = `
import sys, time
import fsspec
from torchx.tracker.backend.fsspec import FsspecTracker
root, what, run = sys.argv[1:]
tracker = FsspecTracker(fsspec.filesystem("file"), root)
begun = time.perf_counter()

def matching(m):
    return m.get("params.optimizer") == "adam" and m.get("metrics.val_accuracy", 0) > 0.9 and m.get("tags.stage") == "train"

def runs():
    all = [(i, tracker.metadata(i)) for i in tracker.run_ids()]
    return sorted(all, key=lambda r: r[1].get("heirloom.started", ""), reverse=True)

def ancestors():
    seen, todo = set(), [run]
    while todo:
        for s in tracker.sources(todo.pop()):
            if s.source_run_id not in seen:
                seen.add(s.source_run_id)
                todo.append(s.source_run_id)
    return seen

def show():
    return [tracker.metadata(run), tracker.artifacts(run), list(tracker.sources(run)), list(tracker.run_ids(parent_run_id=run))]

found = {"ids": lambda: list(tracker.run_ids()), "runs": lambda: runs()[:20], "where": lambda: [r for r in runs() if matching(r[1])][:20],
         "show": show, "up": ancestors}[what]()
print(len(found), time.perf_counter() - begun)
`

// fillScript puts exported runs into a store that MLflow has made, all at once: to log them one by one takes hours.
const fillScript = `
import json, sqlite3, sys
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
file, exported, artifacts = sys.argv[1:]
store = SqlAlchemyStore("sqlite:///" + file, artifacts)
experiment = store.create_experiment("bench")
db = sqlite3.connect(file)

def insert(table, rows):
    columns = list(rows[0])
    db.executemany("INSERT INTO %s (%s) VALUES (%s)" % (table, ", ".join(columns), ", ".join("?" * len(columns))), [tuple(r.values()) for r in rows])

def flush(runs):
    rows = {"runs": [], "params": [], "tags": [], "metrics": [], "latest_metrics": []}
    for r in runs:
        rows["runs"].append({"run_uuid": r["id"].rsplit("/", 1)[-1], "name": r["name"], "source_type": "UNKNOWN", "source_name": "", "entry_point_name": "", "user_id": r["tags"].get("heirloom.user", ""),
            "status": r["state"], "start_time": r["start"], "end_time": r["end"] or None, "source_version": "", "lifecycle_stage": "active",
            "artifact_uri": artifacts + "/" + r["name"], "experiment_id": int(experiment)})
        for k, v in r["params"].items():
            rows["params"].append({"key": k, "value": v, "run_uuid": r["id"].rsplit("/", 1)[-1]})
        for k, v in dict(r["tags"], **{"mlflow.runName": r["name"], "heirloom.id": r["id"]}).items():
            rows["tags"].append({"key": k, "value": v, "run_uuid": r["id"].rsplit("/", 1)[-1]})
        for k, v in r["metrics"].items():
            rows["metrics"].append({"key": k, "value": v, "timestamp": r["start"], "run_uuid": r["id"].rsplit("/", 1)[-1], "step": 0, "is_nan": False})
            rows["latest_metrics"].append({"key": k, "value": v, "timestamp": r["start"], "step": 0, "is_nan": False, "run_uuid": r["id"].rsplit("/", 1)[-1]})
    for table, list_ in rows.items():
        if list_:
            insert(table, list_)

batch = []
for line in open(exported):
    batch.append(json.loads(line))
    if len(batch) == 5000:
        flush(batch)
        batch = []
if batch:
    flush(batch)
db.commit()
db.execute("ANALYZE")
db.commit()
`

// mlflowScript asks MLflow's store on SQLite through its client, and prints how many runs it found and in how many
// seconds, its own start left out.
const mlflowScript = `
import sys, time
from mlflow import MlflowClient
file, what, run = sys.argv[1:]
client = MlflowClient("sqlite:///" + file)
experiment = client.get_experiment_by_name("bench").experiment_id
begun = time.perf_counter()
newest = ["attributes.start_time DESC"]
if what == "runs":
    found = client.search_runs([experiment], order_by=newest, max_results=20)
elif what == "where":
    found = client.search_runs([experiment], "params.optimizer = 'adam' and metrics.val_accuracy > 0.9 and tags.stage = 'train'", order_by=newest, max_results=20)
elif what == "rare":
    found = client.search_runs([experiment], "params.seed = '7' and metrics.val_accuracy > 0.98 and tags.stage = 'finetune'", order_by=newest, max_results=20)
else:
    found = [client.get_run(run.rsplit("/", 1)[-1])]
print(len(found), time.perf_counter() - begun)
`
