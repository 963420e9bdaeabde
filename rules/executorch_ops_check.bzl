"""executorch_ops_check: checks that no kernel is registered twice."""

load("//rules/private/executorch:executorch_ops_check.bzl", _executorch_ops_check = "executorch_ops_check")

executorch_ops_check = _executorch_ops_check
