"""executorch_compiled_program: a program as a C++ library without ExecuTorch's runtime."""

load("//rules/private/executorch:executorch_compiled_program.bzl", _executorch_compiled_program = "executorch_compiled_program")

executorch_compiled_program = _executorch_compiled_program
