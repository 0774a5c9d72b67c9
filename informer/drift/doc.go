// Package drift compares a release's manifest with the live objects, and tries what
// applying a manifest would do.
//
// The API server knows best which values are equal. So it applies each object as a
// dry run, and the result is compared with the live object. If it refuses, the
// fields of the manifest are compared with the live object one by one. These do not
// count as drift: status, defaults, equivalent quantities, generated fields, and
// replicas set by an autoscaler.
//
// The managedFields of an object say who has set a field. Fields that the manifest
// does not have are not drift; those that somebody else has set are listed
// separately.
//
// Nothing is changed in the cluster. A [Comparer] starts nothing and may be used
// concurrently.
package drift
