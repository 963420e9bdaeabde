"""executorch_bundle: a binary with all its files in a folder, to run on other machines."""

load("//rules/private/executorch:executorch_bundle.bzl", _executorch_bundle = "executorch_bundle")

executorch_bundle = _executorch_bundle
