// Package prov writes a lineage in W3C PROV's JSON form (https://www.w3.org/submissions/prov-json/): runs are
// activities, artifacts and inputs are entities, users are agents.
package prov
