"""Tests of kernels against PyTorch."""

load("@rules_python//python:defs.bzl", "py_test")

def op_test(name, srcs, op_caller = "//kernels/testing:portable_op_caller", size = "medium", deps = [], **kwargs):
    """A test of one file of kernels, in Python, on top of `kernels/testing/op_tester.py`.

    Args:
      name: name of the test.
      srcs: the test, one file.
      op_caller: the shared library of //kernels/testing:op_caller and the kernels to test.
      size: size of the test.
      deps: more Python libraries.
      **kwargs: passed to py_test.
    """
    py_test(
        name = name,
        size = size,
        srcs = srcs,
        main = srcs[0],
        data = [op_caller],
        env = {"OP_CALLER_LIBRARY": "$(rootpath {})".format(op_caller)},
        deps = ["//kernels/testing:op_tester"] + deps,
        **kwargs
    )

def operators_test(name, functions_yaml, operator_files, tests):
    """A test that the sources, the YAML and operators.bzl of a kernel library agree, and that tests name all operators.

    Args:
      name: name of the test.
      functions_yaml: the library's YAML.
      operator_files: JSON of the sources, and of operators.bzl.
      tests: the library's tests.
    """
    files = [operator_files, functions_yaml] + tests
    py_test(
        name = name,
        size = "small",
        srcs = ["//kernels/testing:operators_test.py"],
        main = "//kernels/testing:operators_test.py",
        args = ["$(rootpath {})".format(file) for file in files],
        data = files,
        deps = [
            "//codegen:codegen_lib",
            "@executorch_codegen_python//:absl_py",
        ],
    )
