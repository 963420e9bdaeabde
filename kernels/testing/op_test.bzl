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
