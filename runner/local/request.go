package local

import (
	"encoding/json"
	"fmt"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// requestOf gives the plan's request in any of the forms it may have, checked against
// its app.
func requestOf(plan *runner.Plan) (Request, error) {
	var r Request
	switch v := plan.Request.(type) {
	case Request:
		r = v
	case *Request:
		r = *v
	default:
		body, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(body, &r)
		}
		if err != nil {
			return r, fmt.Errorf("the plan of %s holds no request of the local scheduler: %w: %w", plan.Handle, store.ErrInvalid, err)
		}
	}
	if len(r.Replicas) != plan.App.Replicas() {
		return r, fmt.Errorf("the request of %s has %d replicas, its app %d: %w", plan.Handle, len(r.Replicas), plan.App.Replicas(), store.ErrInvalid)
	}
	for _, one := range r.Replicas {
		role := plan.App.Role(one.Role)
		if role == nil || one.Replica < 0 || one.Replica >= role.NumReplicas {
			return r, fmt.Errorf("the request of %s has a replica %s/%d, its app has not: %w", plan.Handle, one.Role, one.Replica, store.ErrInvalid)
		}
	}
	return r, nil
}

// env gives the variables of one replica.
func (r Request) env(role string, k int) (map[string]string, error) {
	for _, one := range r.Replicas {
		if one.Role == role && one.Replica == k {
			return one.Env, nil
		}
	}
	return nil, nil
}
