package runner

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Logs yields the lines of an app's logs, as LogReader has them, those in which the
// query's Regex matches, which does not see the end of the line. Unknown apps, roles and
// replicas are errors of kind store.ErrNotExist that name those there are, and what the
// scheduler cannot do is store.ErrUnsupported. After an error comes no more.
func (r *Runner) Logs(ctx context.Context, h Handle, query LogQuery) iter.Seq2[LogLine, error] {
	return func(yield func(LogLine, error) bool) {
		event := r.eventOf("logs", h)
		reader, err := r.logReader(ctx, h, query)
		if err == nil {
			for line, lineErr := range reader.Logs(ctx, h, query) {
				if lineErr != nil {
					err = lineErr
					break
				}
				if query.Regex != nil && !query.Regex.MatchString(strings.TrimRight(line.Text, "\r\n")) {
					continue
				}
				if !yield(line, nil) {
					break
				}
			}
		}
		event.end(ctx, err)
		if err != nil {
			yield(LogLine{}, err)
		}
	}
}

// logReader checks a query and finds who answers it.
func (r *Runner) logReader(ctx context.Context, h Handle, query LogQuery) (LogReader, error) {
	s, status, err := r.status(ctx, h)
	if err != nil {
		return nil, err
	}
	reader, ok := s.(LogReader)
	if !ok {
		return nil, fmt.Errorf("scheduler %s has no logs: %w", h.Scheduler, store.ErrUnsupported)
	}
	if !slices.Contains([]Stream{"", Combined, Stdout, Stderr}, query.Stream) {
		return nil, invalid("no such stream: %s; known: %s, %s, %s", query.Stream, Combined, Stdout, Stderr)
	}
	return reader, query.Check(h, status.Roles)
}

// Check looks whether the query's role and replicas are there, if it is known which are. What
// is not there has kind store.ErrNotExist.
func (q *LogQuery) Check(h Handle, roles []RoleStatus) error {
	if len(roles) == 0 {
		return nil
	}
	var names []string
	most := 0 // replicas in one of the roles that are asked for
	for _, role := range roles {
		if !slices.Contains(names, role.Role) { // each task of an array has it
			names = append(names, role.Role)
		}
		if q.Role == "" || q.Role == role.Role {
			most = max(most, len(role.Replicas))
		}
	}
	if q.Role != "" && !slices.Contains(names, q.Role) {
		return &torchxError{fmt.Sprintf("%s has no role %s%s; its roles: %s", h, q.Role, suggest(q.Role, names), strings.Join(names, ", ")), store.ErrNotExist}
	}
	for _, n := range q.Replicas {
		if n < 0 || n >= most {
			return &torchxError{fmt.Sprintf("%s has no replica %s; they are numbered from 0 to %d", h,
				strings.TrimPrefix(q.Role+"/"+strconv.Itoa(n), "/"), most-1), store.ErrNotExist}
		}
	}
	return nil
}
