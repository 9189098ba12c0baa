// Package process runs one process of a job on this machine and keeps what it
// says.
//
// The process leads a session of its own, so nothing the terminal does reaches
// it twice: signals come from us, once. What it starts belongs to it: its
// session, and on Linux every process that carries [Spec.Mark] in its
// environment. No part of that outlives the job, nor, if we are killed, us.
package process
