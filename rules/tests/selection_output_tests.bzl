"""Tests of what et_operator_library writes, through several levels of deps."""

load("@rules_python//python:defs.bzl", "py_test")
load("//rules:defs.bzl", "ScalarType", "et_operator_library")
load(":analysis.bzl", "suite_of_new_tests")

def selection_output_test_suite(name):
    """Tests of the files of selections that unite others, in two orders and depths.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    et_operator_library(
        name = "output_dtypes",
        ops_dict = {"aten::add.out": [ScalarType.Half, ScalarType.ComplexFloat]},
    )
    et_operator_library(
        name = "output_prim",
        ops = [
            "aten::_local_scalar_dense",
            "aten::sym_size.int",
        ],
        deps = [":output_dtypes"],
    )
    et_operator_library(
        name = "output_yaml",
        ops_schema_yaml_target = "operators.yaml",
    )
    et_operator_library(
        name = "output_united",
        visibility = ["//docs/tests:__pkg__"],
        deps = [
            ":output_prim",
            ":output_yaml",
        ],
    )
    et_operator_library(
        name = "output_united_otherwise",
        deps = [
            ":output_yaml",
            ":output_united",
            ":output_dtypes",
        ],
    )
    groups = []
    for selection in ["output_united", "output_united_otherwise"]:
        for group in ["op_matrix", "selected_prim_ops"]:
            groups.append("{}_{}".format(selection, group))
            native.filegroup(
                name = groups[-1],
                srcs = [selection],
                output_group = group,
            )
    py_test(
        name = "selection_output_test",
        size = "small",
        srcs = ["selection_output_test.py"],
        data = [
            ":output_united",
            ":output_united_otherwise",
        ] + groups,
        deps = ["@executorch_codegen_python//:pyyaml"],
    )
    suite_of_new_tests(name, before)
