// Package store holds bytes under keys in one directory, bucket or memory.
//
// The contract is the same on every backend and proven by store/storetest:
//
//   - An object is visible whole or not at all, and after Put returns, Get and
//     List see it. On a local disk it also survives a loss of power.
//   - Create fails if the key exists and has exactly one winner in a race.
//   - List is sorted bytewise and complete; an error in it is final.
//   - A read knows its length and version and ends in an error, never short.
//   - Only what may pass by itself (ErrUnavailable) is retried, with the same
//     bytes, and a write whose answer was lost is recognised as our own.
//
// What a backend can do beyond that floor is said by Capabilities.
package store
