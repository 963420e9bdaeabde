"""Analysis tests of the other names of parameters: a target has the actions that it has with the names of the rule."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(
    "//rules:defs.bzl",
    "et_operator_library",
    "executorch_custom_ops_aot_lib",
    "executorch_generated_lib",
    "executorch_model",
    "exir_custom_ops_aot_lib",
)
load(":analysis.bzl", "action_with_mnemonic", "case", "failure_test", "suite_of_new_tests", "values_of")

_ActionsInfo = provider("The actions of a target.", fields = {"actions": "list[Action]: all actions."})

_actions_aspect = aspect(implementation = lambda target, _: [_ActionsInfo(actions = target.actions)])

def _commands(actions, name):
    """Returns the commands of the rules and the compiler, with NAME in place of the target's name."""
    return sorted([
        " ".join([action.mnemonic] + action.argv).replace(name, "NAME")
        for action in actions
        if action.mnemonic.startswith(("Et", "CppCompile"))
    ])

def _same_actions_test_impl(ctx):
    env = analysistest.begin(ctx)
    name = analysistest.target_under_test(env).label.name.removesuffix(ctx.attr.suffix)
    commands = _commands(analysistest.target_actions(env), name)
    asserts.true(env, commands, "there are actions")
    expected = ctx.attr.expected
    asserts.equals(env, _commands(expected[_ActionsInfo].actions, expected.label.name.removesuffix(ctx.attr.suffix)), commands)
    return analysistest.end(env)

_same_actions_test = analysistest.make(
    _same_actions_test_impl,
    attrs = {
        "expected": attr.label(aspects = [_actions_aspect], doc = "The target with the names of the rule."),
        "suffix": attr.string(doc = "The end of the names of both targets, after the name that the macro gets."),
    },
)

def _attribute_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtBindKernels").argv
    asserts.equals(env, [ctx.attr.attribute], values_of(argv, "--attribute"))
    return analysistest.end(env)

_attribute_test = analysistest.make(
    _attribute_test_impl,
    attrs = {"attribute": attr.string(doc = "The attribute that a message about a kernel names.")},
)

def _static_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, "other_names_of_generated", analysistest.target_under_test(env).label.name)
    return analysistest.end(env)

_static_test = analysistest.make(_static_test_impl)

def compatibility_test_suite(name):
    """Tests of the other names of parameters.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    of_library = {
        "deps": [":selection_all"],
        "functions_yaml_target": "functions.yaml",
        "kernel_deps": [":kernels_a"],
    }
    by_flag = select({
        ":selection_flag_is_on": "b.bpte",
        "//conditions:default": "a.pte",
    })
    no_effect = {"expose_operator_symbols": True, "use_default_aten_ops_lib": True, "xplat_deps": []}
    for target, suffix, rule, macro, names, other in [
        ("all", "", et_operator_library, et_operator_library, {"include_all_operators": True}, {"include_all_ops": True}),
        ("model", "", et_operator_library, et_operator_library, {"models": ["a.pte"]}, {"model": "a.pte"}),
        ("model_by_flag", "", et_operator_library, et_operator_library, {"models": ["a.pte"]}, {"model": by_flag}),
        ("none", "", et_operator_library, et_operator_library, {"ops": ["aten::a.out"]}, {
            "define_static_targets": True,
            "include_all_ops": None,
            "model": None,
            "ops": ["aten::a.out"],
        }),
        (
            "generated",
            "",
            executorch_generated_lib,
            executorch_generated_lib,
            of_library | {"copts": ["-DA_FLAG"]},
            of_library | no_effect | {"compiler_flags": ["-DA_FLAG"], "define_static_targets": True},
        ),
        (
            "aot",
            "",
            executorch_custom_ops_aot_lib,
            exir_custom_ops_aot_lib,
            {"copts": ["-DA_FLAG"], "custom_ops_functional_variants": False, "custom_ops_yaml_target": "custom_ops.yaml"},
            {"compiler_flags": ["-DA_FLAG"], "functional_variants": False, "yaml_target": "custom_ops.yaml"},
        ),
        (
            "whole",
            "_lib",
            executorch_model,
            executorch_model,
            {
                "custom_ops_yaml_target": "custom_ops.yaml",
                "functions_yaml_target": "functions.yaml",
                "kernel_deps": [":kernels_a"],
                "model": "model.py",
            },
            {
                "custom_ops_yaml": "custom_ops.yaml",
                "functions_yaml": "functions.yaml",
                "kernels": [":kernels_a"],
                "model": "model.py",
            },
        ),
    ]:
        rule(name = "names_of_" + target, tags = ["manual"], **names)
        macro(name = "other_names_of_" + target, tags = ["manual"], **other)
        _same_actions_test(
            name = "same_actions_of_{}_test".format(target),
            size = "small",
            expected = ":names_of_{}{}".format(target, suffix),
            suffix = suffix,
            target_under_test = ":other_names_of_{}{}".format(target, suffix),
        )
    _static_test(
        name = "other_names_static_test",
        size = "small",
        target_under_test = ":other_names_of_generated_static",
    )
    for attribute in ["aten_kernels", "kernels"]:
        case(
            name = "names_" + attribute,
            rule = exir_custom_ops_aot_lib,
            test = _attribute_test,
            expect = {"attribute": attribute},
            yaml_target = "custom_ops.yaml",
            **{attribute: [":kernels_a"]}
        )
    for target, rule, attributes, expect in [
        (
            "server_generated_and_other_names",
            et_operator_library,
            {"include_all_ops": True, "model": "a.pte", "server_generated_yaml_target": "server.yaml"},
            {"id": "server-generated-beside-others", "names": ["include_all_ops, model"]},
        ),
        (
            "two_names_of_all",
            et_operator_library,
            {"include_all_operators": True, "include_all_ops": True},
            {"id": "two-names", "names": ["include_all_ops", "include_all_operators"]},
        ),
        (
            "two_names_of_models",
            et_operator_library,
            {"model": "a.pte", "models": ["b.bpte"]},
            {"id": "two-names", "names": ["model", "models"]},
        ),
        (
            "two_names_of_copts",
            executorch_generated_lib,
            of_library | {"compiler_flags": ["-DA_FLAG"], "copts": ["-DA_FLAG"]},
            {"id": "two-names", "names": ["compiler_flags", "copts"]},
        ),
        (
            "two_names_of_kernels",
            executorch_model,
            {"kernel_deps": [":kernels_a"], "kernels": [":kernels_a"], "model": "model.py"},
            {"id": "two-names", "names": ["kernels", "kernel_deps"]},
        ),
        (
            "two_names_of_yaml",
            exir_custom_ops_aot_lib,
            {"custom_ops_yaml_target": "custom_ops.yaml", "yaml_target": "custom_ops.yaml"},
            {"id": "two-names", "names": ["yaml_target", "custom_ops_yaml_target"]},
        ),
        (
            "generated_for_buck",
            executorch_generated_lib,
            of_library | {"platforms": ["CXX"]},
            {"id": "buck-only", "names": ["platforms", "target_compatible_with"]},
        ),
        (
            "generated_with_own_aten",
            executorch_generated_lib,
            of_library | {"use_default_aten_ops_lib": False, "xplat_deps": []},
            {"id": "buck-only", "names": ["use_default_aten_ops_lib", "executorch_torch_toolchain"]},
        ),
    ]:
        case(
            name = target,
            rule = rule,
            test = failure_test,
            expect = expect,
            **attributes
        )
    suite_of_new_tests(name, before)
