"""Analysis tests of et_operator_library."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//rules:defs.bzl", "et_operator_library")
load("//rules:providers.bzl", "EtOperatorInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "failure_test", "values_of")

def _union_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    action = action_with_mnemonic(env, "EtSelect")
    argv = action.argv
    asserts.equals(env, ["aten::add.out", "my_ops::mul3.out"], values_of(argv, "--ops"))
    asserts.equals(env, ["//rules/tests:selection_union"], values_of(argv, "--label"))
    assert_ends(env, ["rules/tests/a.pte", "rules/tests/b.pte"], values_of(argv, "--model"))
    asserts.equals(env, ["//rules/tests:a.pte", "//rules/tests:b.pte"], values_of(argv, "--model_name"))
    assert_ends(env, ["rules/tests/selection_all/selected_operators.yaml"], values_of(argv, "--selection"))
    asserts.false(env, "--include_all_operators" in argv)
    asserts.equals(env, "select", argv[1])
    assert_ends(env, ["rules/tests/selection_union/selected_operators.yaml"], [f.path for f in action.outputs.to_list()])
    asserts.equals(env, action.outputs.to_list()[0], target[EtOperatorInfo].selected_operators)
    asserts.equals(env, action.outputs.to_list(), target[DefaultInfo].files.to_list())
    return analysistest.end(env)

_union_test = analysistest.make(_union_test_impl)

def _all_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.true(env, "--include_all_operators" in action_with_mnemonic(env, "EtSelect").argv)
    return analysistest.end(env)

_all_test = analysistest.make(_all_test_impl)

def et_operator_library_test_suite(name):
    """Tests of et_operator_library.

    Args:
      name: name of the test suite.
    """
    et_operator_library(
        name = "selection_all",
        include_all_ops = True,
        tags = ["manual"],
    )
    et_operator_library(
        name = "selection_union",
        models = [
            "a.pte",
            "b.pte",
        ],
        ops = [
            "aten::add.out",
            "my_ops::mul3.out",
        ],
        tags = ["manual"],
        deps = [":selection_all"],
    )
    et_operator_library(
        name = "selection_empty",
        tags = ["manual"],
    )
    _union_test(
        name = "selection_union_test",
        size = "small",
        target_under_test = ":selection_union",
    )
    _all_test(
        name = "selection_all_test",
        size = "small",
        target_under_test = ":selection_all",
    )
    failure_test(
        name = "selection_empty_test",
        size = "small",
        expected = [
            "//rules/tests:selection_empty selects no operator",
            "Fix: give one of them",
            "See: docs/errors.md#empty-selection",
        ],
        target_under_test = ":selection_empty",
    )
    native.test_suite(
        name = name,
        tests = [
            ":selection_all_test",
            ":selection_empty_test",
            ":selection_union_test",
        ],
    )
