"""executorch_program: exports a PyTorch model in a build action."""

load("//rules/private/executorch:executorch_program.bzl", _executorch_program = "executorch_program")

executorch_program = _executorch_program
