// Package local runs apps on this machine.
//
// Each app has a supervisor, which is a process of its own or, in the foreground,
// the caller. It keeps what it knows in a directory below [Options].StateDir, so that
// any process, also a later one, sees how the app stands, waits for it, reads its
// logs and ends it:
//
//	<app>/<launch>/plan.json                          what was planned, without secrets
//	               supervisor.json                    who supervises: process, its birth, boot
//	               alive, control                     pipes: open while the supervisor lives, and what it is told
//	               started.json                       where outputs and logs are
//	               replicas/<role>/<k>/<attempt>.json how each replica stands or ended
//	               end.reserved                       room for the next
//	               end.json                           how the app ended
//
// Files are whole or not there. A supervisor that is gone without end.json has lost its
// app: it is LOST, whatever its replicas did, and the guard of package process ended them.
package local
