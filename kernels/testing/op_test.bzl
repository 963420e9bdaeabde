"""Tests of kernels against PyTorch."""

load("@rules_python//python:defs.bzl", "py_test")
load("//tests/one_process:py_tests.bzl", "py_tests")

def compatible_with(instruction_set):
    """The platforms for a test of an instruction set other than the widest one of the processor.

    Args:
      instruction_set: str, as EXECUTORCH_INSTRUCTION_SET names it.
    Returns:
      the value of target_compatible_with
    """
    return ["@platforms//cpu:x86_64"] + (select({
        "//conditions:default": ["@platforms//:incompatible"],
        "//kernels/testing:all_instruction_sets": [],
    }) if instruction_set == "avx512" else [])

def op_test(name, srcs, op_caller = "//kernels/testing:portable_op_caller", size = "medium", **kwargs):
    """A Python test of one file of kernels, based on `kernels/testing/op_tester.py`.

    Args:
      name: name of the test.
      srcs: the test, one file.
      op_caller: the shared library of //kernels/testing:op_caller and the kernels to test.
      size: size of the test.
      **kwargs: passed to py_test.
    """
    py_test(name = name, size = size, srcs = srcs, main = srcs[0], **_of_op_caller(op_caller, **kwargs))

def op_tests(name, srcs, op_caller = "//kernels/testing:portable_op_caller", instruction_set = None, **kwargs):
    """A test of all files of kernels of a folder, and a test of each file: see py_tests.

    Args:
      name: name of the test of all files.
      srcs: the tests, `op_*_test.py`.
      op_caller: the shared library of //kernels/testing:op_caller and the kernels to test.
      instruction_set: str, as EXECUTORCH_INSTRUCTION_SET names it, for tests of another instruction set than the widest
        one of the processor. The test of all files then runs one method in six; the tests of single files,
        `op_*_<instruction set>_test`, run all methods.
      **kwargs: passed to py_tests.
    """
    if instruction_set:
        kwargs = {
            "env": {"EXECUTORCH_INSTRUCTION_SET": instruction_set},
            "every": 6,
            "suffix": "_{}_test".format(instruction_set),
            "target_compatible_with": compatible_with(instruction_set),
        } | kwargs
    py_tests(name = name, srcs = srcs, **_of_op_caller(op_caller, **kwargs))

def _of_op_caller(op_caller, data = [], env = {}, deps = [], **kwargs):
    return {
        "data": [op_caller] + data,
        "deps": ["//kernels/testing:op_tester"] + deps,
        "env": {"OP_CALLER_LIBRARY": "$(rootpath {})".format(op_caller)} | env,
    } | kwargs

def operators_test(name, yamls, tests, executorch_yamls = []):
    """A test that a kernel library has all operators of ExecuTorch's library, and that tests name all its operators.

    Args:
      name: name of the test.
      yamls: the library's YAMLs.
      tests: the library's tests.
      executorch_yamls: ExecuTorch's YAMLs. The library must have all their operators.
    """
    flags = {
        "executorch_yaml": executorch_yamls,
        "test_file": tests,
        "yaml": yamls,
    }
    py_test(
        name = name,
        size = "small",
        srcs = ["//kernels/testing:operators_test.py"],
        main = "//kernels/testing:operators_test.py",
        args = ["--{}=$(rootpath {})".format(flag, file) for flag, files in flags.items() for file in files],
        data = [file for files in flags.values() for file in files],
        deps = [
            "//codegen:codegen_lib",
            "@executorch_codegen_python//:absl_py",
        ],
    )
