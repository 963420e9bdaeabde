"""Analysis tests of executorch_custom_ops_aot_lib, by itself and as a part of executorch_generated_lib."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("//rules:defs.bzl", "executorch_custom_ops_aot_lib", "executorch_generated_lib")
load("//rules:providers.bzl", "TorchOpInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "suite_of_new_tests", "values_of")

def _actions_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    asserts.equals(env, "generate_torch", argv[1])
    asserts.equals(env, ["//rules/tests:aot"], values_of(argv, "--label"))
    for flag, file in {
        "--boxed_kernels": "aot/boxed_kernels",
        "--custom_ops_yaml": "custom_ops.yaml",
        "--module": "aot.py",
        "--torch_manifest": "aot.torch.json",
        "--kernel_table": "aot/KernelTable.cpp",
        "--manifest": "aot/registered.json",
        "--native_functions": "aot/NativeFunctions.h",
        "--torch_operators": "aot/TorchOperators.cpp",
    }.items():
        assert_ends(env, ["rules/tests/" + file], values_of(argv, flag))
    asserts.equals(env, ["libaot.so"], values_of(argv, "--library"))

    bind = action_with_mnemonic(env, "EtBindKernels")
    asserts.true(
        env,
        [f for f in bind.inputs.to_list() if f.basename.startswith("op_a")],
        "the kernels that a program runs with are looked for",
    )
    for action in analysistest.target_actions(env):
        if action.mnemonic == "CppCompile":
            asserts.true(env, "-DA_FLAG" in action.argv)

            # A sandbox with PyTorch's headers takes seconds.
            asserts.equals(env, [], [arg for arg in action.argv if arg.endswith("executorch_torch/include")])
    asserts.equals(
        env,
        ["libaot.so"],
        [f.basename for f in analysistest.target_under_test(env)[DefaultInfo].files.to_list()],
    )
    runfiles = [f.basename for f in analysistest.target_under_test(env)[DefaultInfo].default_runfiles.files.to_list()]
    for library in ["libaot.so", "libexecutorch.so"]:
        asserts.true(env, library in runfiles, "{} is not in {}".format(library, runfiles))
    asserts.equals(
        env,
        ["aot.torch.json"],
        [f.basename for f in analysistest.target_under_test(env)[TorchOpInfo].manifests.to_list()],
    )
    asserts.true(env, action_with_mnemonic(env, "EtTorchLoad"), "that it loads is checked")
    return analysistest.end(env)

_actions_test = analysistest.make(_actions_test_impl)

def _aten_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    assert_ends(env, ["rules/tests/custom_ops.yaml"], values_of(argv, "--aten_custom_ops_yaml"))
    asserts.equals(env, [], values_of(argv, "--custom_ops_yaml"))
    name = analysistest.target_under_test(env).label.name
    assert_ends(env, ["rules/tests/{}/AtenKernels.cpp".format(name)], values_of(argv, "--aten_source"))
    asserts.false(env, "--stubs" in argv)
    read = [f.basename for f in action_with_mnemonic(env, "EtBindKernels").inputs.to_list()]
    asserts.true(env, [name for name in read if name.startswith("op_a")], "symbols of the kernels are read")
    asserts.false(env, [name for name in read if name.startswith("libtorch")], "those of PyTorch are not")
    return analysistest.end(env)

_aten_test = analysistest.make(_aten_test_impl)

def _selection_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    assert_ends(env, ["rules/tests/{}/selected_operators.yaml".format(ctx.attr.selection)], values_of(argv, "--selection"))
    bind = action_with_mnemonic(env, "EtBindKernels")
    asserts.equals(env, [ctx.attr.attribute], values_of(bind.argv, "--attribute"))
    asserts.true(env, [f for f in bind.inputs.to_list() if f.basename.startswith("op_a")], "the kernels are looked for")
    return analysistest.end(env)

_selection_test = analysistest.make(_selection_test_impl, attrs = {
    "attribute": attr.string(doc = "The attribute that a message about a kernel names."),
    "selection": attr.string(doc = "The selection's name."),
})

def _linked_test_impl(ctx):
    env = analysistest.begin(ctx)
    bind = action_with_mnemonic(env, "EtBindKernels")
    asserts.equals(env, ctx.attr.left_out, values_of(bind.argv, "--left_out"))
    link = [a for a in analysistest.target_actions(env) if a.mnemonic == "CppLink"][-1]
    for action in [bind, link]:
        built = [f.basename for f in action.inputs.to_list() if f.extension in ["a", "o"]]
        kernels = [name.partition(".")[0] for name in built if name.startswith("op_")]
        asserts.equals(env, ctx.attr.kernels, sorted(kernels), "the kernels that {} waits for".format(action.mnemonic))
    return analysistest.end(env)

_linked_test = analysistest.make(
    _linked_test_impl,
    attrs = {
        "kernels": attr.string_list(doc = "The files of kernels that the library links."),
        "left_out": attr.string_list(doc = "The libraries that it does not link."),
    },
    config_settings = {
        # Linkers get object files in place of archives.
        "//command_line_option:compilation_mode": "opt",
    },
)

def _stubs_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.true(env, "--stubs" in action_with_mnemonic(env, "EtGenerate").argv)
    mnemonics = [action.mnemonic for action in analysistest.target_actions(env)]
    asserts.false(env, "EtBindKernels" in mnemonics, "there is no kernel to look for")
    return analysistest.end(env)

_stubs_test = analysistest.make(_stubs_test_impl)

def _targets_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, ["custom_ops_aot_of_library", "custom_ops_aot_of_library_py"], ctx.attr.made)
    return unittest.end(env)

_targets_test = unittest.make(_targets_test_impl, attrs = {
    "made": attr.string_list(doc = "The targets that the macros have made."),
})

def executorch_custom_ops_aot_lib_test_suite(name):
    """Tests of executorch_custom_ops_aot_lib.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    case(
        name = "aot",
        rule = executorch_custom_ops_aot_lib,
        test = _actions_test,
        copts = ["-DA_FLAG"],
        custom_ops_yaml_target = "custom_ops.yaml",
        kernel_deps = [":kernels_a"],
    )
    case(
        name = "aot_with_aten_kernels",
        rule = executorch_custom_ops_aot_lib,
        test = _aten_test,
        custom_ops_aten_kernel_deps = [":kernels_a"],
        custom_ops_yaml_target = "custom_ops.yaml",
    )
    case(
        name = "aot_of_selection",
        expect = {
            "attribute": "kernel_deps",
            "selection": "selection_union",
        },
        rule = executorch_custom_ops_aot_lib,
        test = _selection_test,
        custom_ops_yaml_target = "custom_ops.yaml",
        kernel_deps = [":kernels_a"],
        deps = [":selection_union"],
    )

    # That of a library follows the library's selection, and has the library's kernels, which may be in its deps.
    _selection_test(
        name = "aot_of_kernels_in_deps_test",
        size = "small",
        attribute = "kernel_deps",
        selection = "selection_all",
        target_under_test = ":custom_ops_generated_with_kernels_in_deps",
    )

    # A library of operators that PyTorch has is left out beside others, since the kernels may be many.
    for library, kernel_deps, kernels, left_out in [
        ("linked", [":kernels_a", ":kernels_alone"], ["op_a", "op_b"], [":kernels_alone"]),
        ("linked_alone", [":kernels_alone"], ["op_a", "op_b", "op_c"], []),
    ]:
        executorch_generated_lib(
            name = library,
            custom_ops_yaml_target = "custom_ops.yaml",
            kernel_deps = kernel_deps,
            tags = ["manual"],
            deps = [":selection_all"],
        )
        _linked_test(
            name = "aot_{}_test".format(library),
            size = "small",
            kernels = kernels,
            left_out = ["//rules/tests" + label for label in left_out],
            target_under_test = ":custom_ops_" + library,
        )

    # Kernels that are compiled with USE_ATEN_LIB have PyTorch's tensors.
    cc_library(
        name = "kernels_with_at_tensor",
        srcs = ["op_a.cpp"],
        defines = ["USE_ATEN_LIB"],
        tags = ["manual"],
    )
    case(
        name = "aot_with_at_tensor",
        rule = executorch_custom_ops_aot_lib,
        test = _aten_test,
        custom_ops_yaml_target = "custom_ops.yaml",
        kernel_deps = [":kernels_with_at_tensor"],
    )
    case(
        name = "aot_of_stubs",
        rule = executorch_custom_ops_aot_lib,
        test = _stubs_test,
        custom_ops_yaml_target = "custom_ops.yaml",
    )
    for library, attributes in {
        "aot_of_library": {"custom_ops_yaml_target": "custom_ops.yaml"},
        "no_aot_of_functions": {"functions_yaml_target": "functions.yaml"},
        "no_aot_of_library": {"custom_ops_requires_aot_registration": False, "custom_ops_yaml_target": "custom_ops.yaml"},
    }.items():
        executorch_generated_lib(
            name = library,
            kernel_deps = [":kernels_a"],
            tags = ["manual"],
            deps = [":selection_all"],
            **attributes
        )
    made = [rule for rule in native.existing_rules().values() if rule["name"].startswith("custom_ops_") and "aot_of" in rule["name"]]
    _targets_test(
        name = "aot_targets_test",
        size = "small",
        made = sorted([rule["name"] for rule in made]),
    )
    suite_of_new_tests(name, before)
