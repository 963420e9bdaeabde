"""Analysis tests of executorch_generated_lib."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:defs.bzl", "cc_test")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:defs.bzl", "et_operator_library", "executorch_generated_lib")
load("//rules:providers.bzl", "EtGeneratedLibInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "failure_test", "suite_of_new_tests", "values_of")

def _actions_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    asserts.equals(env, "generate", argv[1])
    asserts.equals(env, ["//rules/tests:generated"], values_of(argv, "--label"))
    assert_ends(env, ["rules/tests/functions.yaml"], values_of(argv, "--functions_yaml"))
    assert_ends(env, ["rules/tests/custom_ops.yaml"], values_of(argv, "--custom_ops_yaml"))
    assert_ends(env, [
        "rules/tests/selection_all/selected_operators.yaml",
        "rules/tests/selection_union/selected_operators.yaml",
    ], values_of(argv, "--selection"))
    for flag, file in {
        "--boxed_kernels": "boxed_kernels",
        "--functions": "Functions.h",
        "--kernel_table": "KernelTable.cpp",
        "--manifest": "registered.json",
        "--native_functions": "NativeFunctions.h",
        "--registered_names": "RegisteredNames.cpp",
        "--registration": "RegisterKernels.cpp",
    }.items():
        assert_ends(env, ["rules/tests/generated/" + file], values_of(argv, flag))

    asserts.true(env, "--support_exceptions" in argv)
    asserts.equals(env, [], values_of(argv, "--registration_header"))

    bind = action_with_mnemonic(env, "EtBindKernels")
    asserts.equals(env, "bind", bind.argv[1])
    inputs = [f.basename for f in bind.inputs.to_list()]
    asserts.true(env, "registered.json" in inputs)
    for source in ["op_a", "op_b"]:
        objects = [i for i in inputs if i.startswith(source)]
        asserts.equals(env, [source + ".o"], objects, "symbols are read of what a binary links, so that nothing else is compiled")
    assert_ends(env, ["rules/tests/generated/KernelAdapters.cpp"], [f.path for f in bind.outputs.to_list()])
    return analysistest.end(env)

_actions_test = analysistest.make(
    _actions_test_impl,
    config_settings = {
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:force_pic": False,
    },
)

def _providers_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    own = [
        library
        for linker_input in target[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        if linker_input.owner == target.label
    ]
    asserts.equals(env, 1, len(own))
    asserts.true(env, own[0].alwayslink, "a registration must link though nothing refers to it")
    archive = own[0].static_library or own[0].pic_static_library
    asserts.equals(env, [archive], target[OutputGroupInfo]._hidden_top_level_INTERNAL_.to_list(), "to build is to compile")
    asserts.equals(
        env,
        ["Functions.h", "NativeFunctions.h"],
        sorted([f.basename for f in target[EtGeneratedLibInfo].headers.compilation_context.direct_public_headers]),
    )
    asserts.equals(env, ["registered.json"], [f.basename for f in target[EtGeneratedLibInfo].registered.to_list()])
    return analysistest.end(env)

_providers_test = analysistest.make(_providers_test_impl)

def _manual_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    argv = action_with_mnemonic(env, "EtGenerate").argv
    asserts.true(env, "--nosupport_exceptions" in argv)
    assert_ends(env, ["rules/tests/generated_manually/RegisterKernels.h"], values_of(argv, "--registration_header"))
    assert_ends(env, ["rules/tests/custom_ops.yaml"], values_of(argv, "--fallback_yaml"))
    own = [
        library
        for linker_input in target[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        if linker_input.owner.name == "generated_manually"
    ]
    asserts.false(env, own[0].alwayslink, "only what calls RegisterKernels.h needs the library")
    asserts.equals(env, [], target[EtGeneratedLibInfo].registered.to_list(), "nothing is registered by itself")
    asserts.true(
        env,
        "RegisterKernels.h" in [f.basename for f in target[EtGeneratedLibInfo].headers.compilation_context.direct_public_headers],
    )
    return analysistest.end(env)

_manual_test = analysistest.make(_manual_test_impl)

def _headers_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    asserts.equals(env, [], target[CcInfo].linking_context.linker_inputs.to_list())
    asserts.equals(env, ["Functions.h", "NativeFunctions.h"], sorted([f.basename for f in target[DefaultInfo].files.to_list()]))
    return analysistest.end(env)

_headers_test = analysistest.make(_headers_test_impl)

def _selective_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    argv = action_with_mnemonic(env, "EtPruneKernels").argv
    asserts.equals(env, "prune", argv[1])
    asserts.equals(env, ["//rules/tests:generated_selective"], values_of(argv, "--label"))
    assert_ends(env, ["rules/tests/generated_selective/registered.json"], values_of(argv, "--manifest"))
    assert_ends(env, ["rules/tests/selection_all/selected_operators.yaml"], values_of(argv, "--selection"))
    asserts.equals(
        env,
        [
            "0:rules/tests/op_b.cpp:aten::b.out",
            "0:rules/tests/shared.cpp:",
            "1:rules/tests/op_a.cpp:aten::a.out,aten::a.Scalar_out",
        ],
        sorted(values_of(argv, "--source")),
        "what is compiled alike is in one directory",
    )
    assert_ends(env, ["sources_0", "sources_1"], values_of(argv, "--directory"))
    assert_ends(
        env,
        ["generated_selective/selective_build/executorch/kernels/portable/cpu/selected_op_variants.h"],
        values_of(argv, "--header"),
    )
    asserts.equals(env, ["dtypes.json"], [f.basename for f in target[EtGeneratedLibInfo].dtypes.to_list()])
    own = [
        library
        for linker_input in target[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        if linker_input.owner == target.label
    ]
    asserts.equals(env, 1, len(own))
    asserts.true(env, own[0].alwayslink, "its kernels come before the shared ones")
    return analysistest.end(env)

_selective_test = analysistest.make(_selective_test_impl)

def _kernels_in_deps_test_impl(ctx):
    env = analysistest.begin(ctx)
    bind = action_with_mnemonic(env, "EtBindKernels")
    inputs = [f.basename for f in bind.inputs.to_list()]
    for source in ["op_a", "op_b"]:
        asserts.equals(env, 1, len([name for name in inputs if name.startswith(source)]), "{} in {}".format(source, inputs))
    asserts.equals(env, ["kernel_deps"], values_of(bind.argv, "--attribute"))
    sources = values_of(action_with_mnemonic(env, "EtPruneKernels").argv, "--source")
    asserts.equals(env, 3, len(sources), "their sources are compiled for the selected dtypes: {}".format(sources))
    return analysistest.end(env)

_kernels_in_deps_test = analysistest.make(_kernels_in_deps_test_impl)

def _declared_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    asserts.equals(env, [], target[CcInfo].linking_context.linker_inputs.to_list())
    asserts.equals(env, [], target[EtGeneratedLibInfo].registered.to_list())
    asserts.equals(
        env,
        ["Functions.h", "NativeFunctions.h"],
        sorted([f.basename for f in target[CcInfo].compilation_context.direct_public_headers]),
    )
    asserts.equals(
        env,
        ["EtGenerate"],
        # Clang's toolchain has module maps, which say which headers a target may include.
        [a.mnemonic for a in analysistest.target_actions(env) if a.mnemonic != "CppModuleMap"],
        "no kernel is looked for, and nothing compiled",
    )
    return analysistest.end(env)

_declared_test = analysistest.make(_declared_test_impl)

def _copts_test_impl(ctx):
    env = analysistest.begin(ctx)
    compiled = [a for a in analysistest.target_actions(env) if a.mnemonic == "CppCompile"]
    asserts.true(env, compiled, "sources are compiled")
    for action in compiled:
        asserts.true(env, "-DA_FLAG" in action.argv, "a source without the flag: {}".format(action.argv))
    return analysistest.end(env)

_copts_test = analysistest.make(_copts_test_impl)

def executorch_generated_lib_test_suite(name):
    """Tests of executorch_generated_lib.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    executorch_generated_lib(
        name = "generated",
        custom_ops_yaml_target = "custom_ops.yaml",
        functions_yaml_target = "functions.yaml",
        kernel_deps = [":kernels_a"],
        tags = ["manual"],
        deps = [
            ":selection_all",
            ":selection_union",
        ],
    )
    executorch_generated_lib(
        name = "generated_manually",
        fallback_yaml_target = "custom_ops.yaml",
        functions_yaml_target = "functions.yaml",
        kernel_deps = [":kernels_a"],
        manual_registration = True,
        support_exceptions = False,
        tags = ["manual"],
        deps = [":selection_all"],
    )
    case(
        name = "generated_without_yaml",
        expect = {
            "id": "no-yaml",
            "names": ["functions_yaml_target", "custom_ops_yaml_target", "kernel_deps"],
        },
        rule = executorch_generated_lib,
        test = failure_test,
        deps = [":selection_all"],
    )
    case(
        name = "generated_without_selection",
        expect = {
            "id": "no-selection",
            "names": ["deps"],
        },
        rule = executorch_generated_lib,
        test = failure_test,
        functions_yaml_target = "functions.yaml",
    )
    case(
        name = "generated_selective",
        rule = executorch_generated_lib,
        test = _selective_test,
        dtype_selective_build = True,
        functions_yaml_target = "functions.yaml",
        kernel_deps = [":kernels_a"],
        deps = [":selection_all"],
    )
    for kernels, kernel_deps in {
        "kernels_in_both": [":kernels_a"],
        "kernels_in_deps": [],
    }.items():
        executorch_generated_lib(
            name = "generated_with_" + kernels,
            custom_ops_yaml_target = "custom_ops.yaml",
            dtype_selective_build = True,
            functions_yaml_target = "functions.yaml",
            kernel_deps = kernel_deps,
            tags = ["manual"],
            deps = [
                ":kernels_a",
                ":selection_all",
            ],
        )
        _kernels_in_deps_test(
            name = "generated_with_{}_test".format(kernels),
            size = "small",
            target_under_test = ":generated_with_" + kernels,
        )
    case(
        name = "generated_selective_without_sources",
        expect = {
            "id": "no-kernel-sources",
            "names": ["dtype_selective_build", "kernel_deps"],
        },
        rule = executorch_generated_lib,
        test = failure_test,
        dtype_selective_build = True,
        functions_yaml_target = "functions.yaml",
        kernel_deps = ["//runtime:program"],
        deps = [":selection_all"],
    )
    case(
        name = "generated_declared",
        rule = executorch_generated_lib,
        test = _declared_test,
        custom_ops_requires_runtime_registration = False,
        custom_ops_yaml_target = "custom_ops.yaml",
        deps = [":selection_all"],
    )
    case(
        name = "generated_with_flags",
        rule = executorch_generated_lib,
        test = _copts_test,
        copts = ["-DA_FLAG"],
        custom_ops_requires_runtime_registration = False,  # the ATen operators are registered
        functions_yaml_target = "functions.yaml",
        kernel_deps = [":kernels_a"],
        deps = [":selection_all"],
    )
    executorch_generated_lib(
        name = "generated_prim",
        functions_yaml_target = "functions.yaml",
        include_all_prim_ops = False,
        tags = ["manual"],
        deps = [
            ":kernels_a",
            ":output_dtypes",
            ":output_prim",
            ":output_view",
        ],
    )
    et_operator_library(
        name = "output_view",
        ops = ["executorch_prim::et_view.default"],
    )
    cc_test(
        name = "generated_prim_test",
        size = "small",
        srcs = ["prim_ops_header_test.cpp"],
        deps = [":generated_prim_combined_prim_ops_header"],
    )
    _actions_test(
        name = "generated_actions_test",
        size = "small",
        target_under_test = ":generated",
    )
    _providers_test(
        name = "generated_providers_test",
        size = "small",
        target_under_test = ":generated",
    )
    _manual_test(
        name = "generated_manually_test",
        size = "small",
        target_under_test = ":generated_manually",
    )
    _headers_test(
        name = "generated_headers_test",
        size = "small",
        target_under_test = ":generated_headers",
    )
    for odd in ["generated#2", "generated_é"]:
        executorch_generated_lib(
            name = odd,
            custom_ops_yaml_target = "custom_ops.yaml",
            tags = ["manual"],
            deps = [":selection_all"],
        )
    for test, (odd, character) in {"generated_hash_test": ("generated#2", "\"#\""), "generated_accent_test": ("generated_é", "ASCII")}.items():
        failure_test(
            name = test,
            size = "small",
            id = "odd-name",
            names = [character],
            target_under_test = odd,
        )
    suite_of_new_tests(name, before)
