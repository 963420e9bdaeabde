"""executorch_backend: a library that registers backends."""

load("//rules/private/executorch:executorch_backend.bzl", _executorch_backend = "executorch_backend")

executorch_backend = _executorch_backend
