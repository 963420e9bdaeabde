"""executorch_binary: a runner for a program."""

load("//rules/private/executorch:executorch_binary.bzl", _executorch_binary = "executorch_binary")

executorch_binary = _executorch_binary
