"""Analysis tests of et_operator_library."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:common_settings.bzl", "bool_flag")
load("@rules_python//python:defs.bzl", "py_test")
load("//rules:defs.bzl", "ScalarType", "et_operator_library")
load("//rules:providers.bzl", "EtOperatorInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "failure_test", "suite_of_new_tests", "values_of")

def _union_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    action = action_with_mnemonic(env, "EtSelect")
    argv = action.argv
    asserts.equals(env, ["aten::add.out", "my_ops::mul3.out"], values_of(argv, "--ops"))
    asserts.equals(env, ["//rules/tests:selection_union"], values_of(argv, "--label"))
    asserts.equals(env, [{"aten::mul.out": ["Half", "v1/6;0|6;0|6;0|6;0"], "aten::sub.out": []}], [json.decode(text) for text in values_of(argv, "--ops_dict")])
    assert_ends(env, ["rules/tests/a.pte", "rules/tests/b.bpte"], values_of(argv, "--model"))
    asserts.equals(env, ["//rules/tests:a.pte", "//rules/tests:b.bpte"], values_of(argv, "--model_name"))
    assert_ends(env, ["rules/tests/ops.yaml"], values_of(argv, "--ops_schema_yaml"))
    asserts.equals(env, ["//rules/tests:ops.yaml"], values_of(argv, "--ops_schema_yaml_name"))
    assert_ends(env, ["rules/tests/selection_all/selected_operators.yaml"], values_of(argv, "--selection"))
    assert_ends(env, ["rules/tests/selection_all/op_matrix.json"], values_of(argv, "--matrix"))
    asserts.false(env, "--include_all_operators" in argv)
    asserts.equals(env, "select", argv[1])
    outputs = {f.basename: f for f in action.outputs.to_list()}
    asserts.equals(env, ["op_matrix.json", "op_matrix.txt", "selected_operators.yaml", "selected_prim_ops.h"], sorted(outputs))
    info = target[EtOperatorInfo]
    asserts.equals(env, outputs["selected_operators.yaml"], info.selected_operators)
    asserts.equals(env, outputs["selected_prim_ops.h"], info.selected_prim_ops)
    asserts.equals(env, outputs["op_matrix.json"], info.op_matrix)
    asserts.equals(env, [info.selected_operators], target[DefaultInfo].files.to_list())
    groups = target[OutputGroupInfo]
    asserts.equals(env, [info.op_matrix, outputs["op_matrix.txt"]], groups.op_matrix.to_list())
    asserts.equals(env, [info.selected_prim_ops], groups.selected_prim_ops.to_list())
    return analysistest.end(env)

_union_test = analysistest.make(_union_test_impl)

def _all_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.true(env, "--include_all_operators" in action_with_mnemonic(env, "EtSelect").argv)
    return analysistest.end(env)

_all_test = analysistest.make(_all_test_impl)

def _server_generated_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtSelect").argv
    assert_ends(env, ["rules/tests/server.yaml"], values_of(argv, "--server_generated_yaml"))
    asserts.equals(env, ["//rules/tests:server.yaml"], values_of(argv, "--server_generated_yaml_name"))
    for flag in ["--include_all_operators", "--model", "--ops", "--ops_dict", "--ops_schema_yaml", "--selection"]:
        asserts.false(env, flag in argv, flag)
    return analysistest.end(env)

_server_generated_test = analysistest.make(_server_generated_test_impl)

def _selected(env):
    argv = action_with_mnemonic(env, "EtSelect").argv
    return (values_of(argv, "--ops"), values_of(argv, "--model_name"), "--include_all_operators" in argv)

def _flag_off_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, (["aten::add.out"], ["//rules/tests:a.pte"], False), _selected(env))
    return analysistest.end(env)

_flag_off_test = analysistest.make(_flag_off_test_impl)

def _flag_on_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, (["aten::mul.out"], ["//rules/tests:b.bpte"], True), _selected(env))
    return analysistest.end(env)

_flag_on_test = analysistest.make(
    _flag_on_test_impl,
    config_settings = {str(Label("//rules/tests:selection_flag")): True},
)

def et_operator_library_test_suite(name):
    """Tests of et_operator_library.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    et_operator_library(
        name = "selection_all",
        include_all_operators = True,
        tags = ["manual"],
    )
    case(
        name = "selection_union",
        rule = et_operator_library,
        test = _union_test,
        models = [
            "a.pte",
            "b.bpte",
        ],
        ops = [
            "aten::add.out",
            "my_ops::mul3.out",
        ],
        ops_dict = {
            "aten::mul.out": [ScalarType.Half, "v1/6;0|6;0|6;0|6;0"],
            "aten::sub.out": [],
        },
        ops_schema_yaml_target = "ops.yaml",
        deps = [":selection_all"],
    )
    case(
        name = "selection_empty",
        expect = {
            "id": "empty-selection",
            "names": ["include_all_operators"],
        },
        rule = et_operator_library,
        test = failure_test,
    )
    case(
        name = "selection_server_generated",
        rule = et_operator_library,
        test = _server_generated_test,
        server_generated_yaml_target = "server.yaml",
    )
    case(
        name = "selection_server_generated_and_more",
        expect = {
            "id": "server-generated-beside-others",
            "names": ["server_generated_yaml_target", "deps, ops"],
        },
        rule = et_operator_library,
        test = failure_test,
        ops = ["aten::add.out"],
        server_generated_yaml_target = "server.yaml",
        deps = [":selection_all"],
    )
    bool_flag(
        name = "selection_flag",
        build_setting_default = False,
    )
    native.config_setting(
        name = "selection_flag_is_on",
        flag_values = {":selection_flag": "True"},
    )
    et_operator_library(
        name = "selection_by_flag",
        include_all_operators = select({
            ":selection_flag_is_on": True,
            "//conditions:default": False,
        }),
        models = select({
            ":selection_flag_is_on": ["b.bpte"],
            "//conditions:default": ["a.pte"],
        }),
        ops = select({
            ":selection_flag_is_on": ["aten::mul.out"],
            "//conditions:default": ["aten::add.out"],
        }),
        tags = ["manual"],
    )
    _flag_off_test(
        name = "selection_flag_off_test",
        size = "small",
        target_under_test = ":selection_by_flag",
    )
    _flag_on_test(
        name = "selection_flag_on_test",
        size = "small",
        target_under_test = ":selection_by_flag",
    )
    py_test(
        name = "scalar_type_test",
        size = "small",
        srcs = ["scalar_type_test.py"],
        # Without the methods that Bazel's structs still have.
        args = ["{}={}".format(name, getattr(ScalarType, name)) for name in dir(ScalarType) if not name.startswith("to_")],
        deps = ["//codegen:codegen_lib"],
    )
    _all_test(
        name = "selection_all_test",
        size = "small",
        target_under_test = ":selection_all",
    )
    case(
        name = "selection_of_two_lines",
        expect = {
            "id": "line-break",
            "names": ["attribute ops", "\"aten::add.out\\n--include_all_operators\""],
        },
        rule = et_operator_library,
        test = failure_test,
        ops = ["aten::add.out\n--include_all_operators"],
    )
    suite_of_new_tests(name, before)
