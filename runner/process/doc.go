// Package process runs one process of a job on this machine and keeps what it
// says.
//
// The process leads a session of its own, so nothing the terminal does reaches
// it twice: signals come from us, once. What it starts belongs to it: its
// session, and on Linux every process that carries [Spec.Mark] in its
// environment or is in its control group. No part of that outlives the job, nor, if we
// are killed, us.
//
// What it writes is moved by the kernel from pipes into logs. The guard, a shell beside
// us, holds the pipes too and adds to the logs what was in them when we were killed.
// The child's descriptors are not the logs themselves, since a program that opens
// /dev/stderr to write would truncate them, and one that writes to a full disk would fail.
package process
