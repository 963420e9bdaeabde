"""executorch_program_test: a program's outputs against PyTorch's."""

load("//rules/private/executorch:executorch_binary.bzl", _executorch_program_test = "executorch_program_test")

executorch_program_test = _executorch_program_test
