"""executorch_bundle: a binary in a folder that runs elsewhere."""

load("//rules/private/executorch:executorch_bundle.bzl", _executorch_bundle = "executorch_bundle")

executorch_bundle = _executorch_bundle
