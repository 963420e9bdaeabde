"""Tests of kernels against PyTorch."""

load("@rules_python//python:defs.bzl", "py_test")

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

def op_test(name, srcs, op_caller = "//kernels/testing:portable_op_caller", size = "medium", data = [], env = {}, deps = [], **kwargs):
    """A Python test of one file of kernels, based on `kernels/testing/op_tester.py`.

    Args:
      name: name of the test.
      srcs: the test, one file.
      op_caller: the shared library of //kernels/testing:op_caller and the kernels to test.
      size: size of the test.
      data: more files.
      env: more variables of the environment.
      deps: more Python libraries.
      **kwargs: passed to py_test.
    """
    py_test(
        name = name,
        size = size,
        srcs = srcs,
        main = srcs[0],
        data = [op_caller] + data,
        env = {"OP_CALLER_LIBRARY": "$(rootpath {})".format(op_caller)} | env,
        deps = ["//kernels/testing:op_tester"] + deps,
        **kwargs
    )

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
