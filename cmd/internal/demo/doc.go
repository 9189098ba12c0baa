// Package demo is a small machine-learning pipeline on real data: it tells
// handwritten digits apart, and every step of it is recorded.
//
//	prepare   digits → train, val and test Parquet, staged once per store
//	train     a fully connected network with one hidden layer, from scratch
//	finetune  from a checkpoint, on digits shifted by a pixel
//	evaluate  accuracy and confusion matrix on the test split
//
// A step runs in a process of its own and knows only its Env and its options.
// Run launches the steps one after the other, as any user would launch jobs.
//
// Numbers are float32 and sums are taken in one order, so that a step repeated
// on the same kind of machine gives the same bytes.
package demo
