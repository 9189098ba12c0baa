package runner

// What TorchX's own words advise, which is about Python. Who speaks to people at a shell puts others in their place.
const (
	AdviceApp         = "Did you forget to call session.run()? Otherwise, the app may have already finished and purged by the scheduler"
	AdviceScheduler   = "Use session.scheduler_backends() to see all supported schedulers"
	AdviceRoles       = "Did you forget to add roles to AppDef?"
	AdviceEntrypoint  = "Did you forget to call role.runs(entrypoint, args, env)?"
	AdviceNumReplicas = "Did you forget to set role.num_replicas?"
	AdviceResource    = "Did you forget to attach resource to the role"
)

// torchxError is an error with TorchX's own words and a kind of package store.
type torchxError struct {
	text string
	kind error
}

func (e *torchxError) Error() string { return e.text }
func (e *torchxError) Unwrap() error { return e.kind }
