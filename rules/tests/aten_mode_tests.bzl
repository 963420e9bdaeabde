"""Analysis tests of executorch_generated_lib with PyTorch's own kernels."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:defs.bzl", "executorch_generated_lib")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "failure_test", "suite_of_new_tests", "values_of")

def _aten_mode_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    asserts.true(env, "--aten_kernels" in argv)
    assert_ends(env, ["rules/tests/custom_ops.yaml"], values_of(argv, "--aten_custom_ops_yaml"))
    asserts.equals(env, [], values_of(argv, "--custom_ops_yaml"))
    assert_ends(env, ["runtime/aten/dim_order_ops.yaml"], values_of(argv, "--aten_fallback_yaml"))
    assert_ends(env, ["rules/tests/generated_in_aten_mode/AtenKernels.cpp"], values_of(argv, "--aten_source"))

    read = [f.basename for f in action_with_mnemonic(env, "EtBindKernels").inputs.to_list()]
    asserts.true(env, [name for name in read if name.startswith("op_a")], "symbols of the kernels are read")
    asserts.false(env, [name for name in read if name.startswith("libtorch")], "those of PyTorch are not")
    linked = [
        library.dynamic_library.basename
        for linker_input in analysistest.target_under_test(env)[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        if library.dynamic_library
    ]
    asserts.true(env, "libtorch_cpu.so" in linked)
    return analysistest.end(env)

_aten_mode_test = analysistest.make(_aten_mode_test_impl)

def _aten_fallback_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    asserts.true(env, "--aten_kernels" in argv)
    assert_ends(env, ["rules/tests/custom_ops.yaml"], values_of(argv, "--custom_ops_yaml"))
    assert_ends(env, ["rules/tests/functions.yaml"], values_of(argv, "--functions_yaml"))
    asserts.equals(env, [], values_of(argv, "--aten_custom_ops_yaml"))
    return analysistest.end(env)

_aten_fallback_test = analysistest.make(_aten_fallback_test_impl)

def _without_aten_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    asserts.false(env, "--aten_kernels" in argv)
    for action in analysistest.target_actions(env):
        for file in action.inputs.to_list():
            asserts.false(env, "executorch_torch" in file.path, "PyTorch would be installed for " + file.path)
    return analysistest.end(env)

_without_aten_test = analysistest.make(_without_aten_test_impl)

def aten_mode_test_suite(name):
    """Tests of executorch_generated_lib with PyTorch's own kernels.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    case(
        name = "generated_in_aten_mode",
        rule = executorch_generated_lib,
        test = _aten_mode_test,
        aten_mode = True,
        custom_ops_yaml_target = "custom_ops.yaml",
        kernel_deps = [":kernels_a"],
        deps = [":selection_all"],
    )
    case(
        name = "generated_with_aten_fallback",
        rule = executorch_generated_lib,
        test = _aten_fallback_test,
        custom_ops_yaml_target = "custom_ops.yaml",
        fallback = "aten",
        functions_yaml_target = "functions.yaml",
        deps = [":selection_all"],
    )
    _without_aten_test(
        name = "without_aten_test",
        size = "small",
        target_under_test = ":generated",
    )
    case(
        name = "generated_in_aten_mode_with_functions_yaml",
        expect = {
            "id": "functions-yaml-in-aten-mode",
            "names": ["aten_mode", "functions_yaml_target"],
        },
        rule = executorch_generated_lib,
        test = failure_test,
        aten_mode = True,
        functions_yaml_target = "functions.yaml",
        deps = [":selection_all"],
    )
    suite_of_new_tests(name, before)
