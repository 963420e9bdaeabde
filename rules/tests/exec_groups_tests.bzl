"""Analysis tests of where actions run: each task in an exec group of its own, loads into PyTorch where Python can load."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:cc_toolchain_config_lib.bzl", "feature", "tool_path")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/toolchains:cc_toolchain.bzl", "cc_toolchain")
load("@rules_cc//cc/toolchains:cc_toolchain_config_info.bzl", "CcToolchainConfigInfo")
load(
    "//rules:defs.bzl",
    "et_kernel_library",
    "executorch_binary",
    "executorch_codegen_toolchain",
    "executorch_custom_ops_aot_lib",
    "executorch_generated_lib",
    "executorch_torch_toolchain",
    "torch_op_library",
)
load("//rules:providers.bzl", "TorchOpInfo")
load(":analysis.bzl", "action_with_mnemonic", "suite_of_new_tests", "values_of")

def _fake_tool_impl(ctx):
    tool = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(tool, "", is_executable = True)
    return [DefaultInfo(executable = tool, files = depset([tool]))]

_fake_tool = rule(
    implementation = _fake_tool_impl,
    executable = True,
)

def _fake_cc_config_impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        abi_libc_version = "unknown",
        abi_version = "unknown",
        compiler = "gcc",
        features = [feature(name = name, enabled = True) for name in ["supports_dynamic_linker", "supports_pic"]],
        target_cpu = "arm",
        target_libc = "unknown",
        target_system_name = "arm",
        tool_paths = [
            tool_path(name = name, path = "/bin/false")
            for name in ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objdump", "strip"]
        ],
        toolchain_identifier = "fake",
    )

_fake_cc_config = rule(
    implementation = _fake_cc_config_impl,
    provides = [CcToolchainConfigInfo],
)

def _groups_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.true(env, analysistest.target_actions(env))
    return analysistest.end(env)

_groups_test = analysistest.make(
    _groups_test_impl,
    doc = "The target sets properties of every exec group of its rule; to set those of a group that is none is an error.",
)

def _machines_test_impl(ctx):
    env = analysistest.begin(ctx)
    for mnemonic, tool in {"EtBindKernels": "/rules/tests/linux_tool", "EtGenerate": "/rules/tests/machine_tool"}.items():
        program = action_with_mnemonic(env, mnemonic).argv[0]
        asserts.true(env, program.endswith(tool), "{} runs {}, not {}".format(mnemonic, program, tool))
    return analysistest.end(env)

_machines_test = analysistest.make(
    _machines_test_impl,
    doc = "Code is generated on a machine without a C++ toolchain, and bound to kernels where there is one.",
    config_settings = {
        "//command_line_option:extra_execution_platforms": [str(Label("//rules/tests:machine"))],
        "//command_line_option:extra_toolchains": [
            str(Label("//rules/tests:machine_toolchain")),
            str(Label("//rules/tests:linux_toolchain")),
        ],
    },
)

def _not_loaded_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    mnemonics = [action.mnemonic for action in analysistest.target_actions(env)]
    asserts.true(env, "CppCompile" in mnemonics)
    asserts.false(env, "EtTorchLoad" in mnemonics)
    asserts.equals(env, [], target[TorchOpInfo].operators.to_list())
    notes = [
        action.content
        for action in analysistest.target_actions(env)
        if action.outputs.to_list()[0].basename == "for_arm.not_loaded.txt"
    ]
    asserts.equals(env, 1, len(notes))
    asserts.true(env, notes[0].startswith(
        "//rules/tests:for_arm was not loaded into PyTorch: the library is for linux on arm, and Python runs on linux on ",
    ), notes[0])
    reports = [file.basename for file in target[OutputGroupInfo]._validation.to_list()]
    asserts.true(env, "for_arm.not_loaded.txt" in reports)
    describe = action_with_mnemonic(env, "EtTorchLibrary").argv
    asserts.equals(env, [], values_of(describe, "--loaded"), "its symbols tell")
    asserts.equals(env, 1, len(values_of(describe, "--source")))
    return analysistest.end(env)

_not_loaded_test = analysistest.make(
    _not_loaded_test_impl,
    config_settings = {
        "//command_line_option:extra_toolchains": [
            str(Label("//rules/tests:arm_cc_toolchain")),
            str(Label("//rules/tests:arm_torch_toolchain")),
        ],
        "//command_line_option:platforms": [str(Label("//rules/tests:arm_linux"))],
    },
)

def _loaded_test_impl(ctx):
    env = analysistest.begin(ctx)
    operators = analysistest.target_under_test(env)[TorchOpInfo].operators.to_list()
    asserts.equals(env, operators, action_with_mnemonic(env, "EtTorchLoad").outputs.to_list()[:1])
    return analysistest.end(env)

_loaded_test = analysistest.make(_loaded_test_impl)

def _arm_toolchains():
    native.platform(
        name = "arm_linux",
        constraint_values = [
            "@platforms//cpu:arm",
            "@platforms//os:linux",
        ],
        tags = ["manual"],
    )
    _fake_cc_config(
        name = "arm_cc_config",
        tags = ["manual"],
    )
    native.filegroup(name = "no_files")
    cc_toolchain(
        name = "arm_cc",
        all_files = ":no_files",
        compiler_files = ":no_files",
        dwp_files = ":no_files",
        linker_files = ":no_files",
        objcopy_files = ":no_files",
        strip_files = ":no_files",
        supports_param_files = False,
        tags = ["manual"],
        toolchain_config = ":arm_cc_config",
        visibility = ["//visibility:public"],
    )
    cc_library(
        name = "arm_torch",
        tags = ["manual"],
    )
    executorch_torch_toolchain(
        name = "arm_libtorch",
        headers = ":arm_torch",
        libtorch = ":arm_torch",
        tags = ["manual"],
        version = "2.13.0",
    )
    for name, toolchain, toolchain_type in [
        ("arm_cc_toolchain", ":arm_cc", "@rules_cc//cc:toolchain_type"),
        ("arm_torch_toolchain", ":arm_libtorch", "//rules:torch_toolchain_type"),
    ]:
        native.toolchain(
            name = name,
            tags = ["manual"],
            target_compatible_with = ["@platforms//cpu:arm"],
            toolchain = toolchain,
            toolchain_type = toolchain_type,
        )

def _machine():
    """An exec platform that has a code generator and nothing else, and code generators for it and for others."""
    native.constraint_setting(name = "machine_kind")
    native.constraint_value(
        name = "generating",
        constraint_setting = ":machine_kind",
    )
    native.platform(
        name = "machine",
        constraint_values = [":generating"],
        tags = ["manual"],
    )
    for name, constraint in {"linux": "@platforms//os:linux", "machine": ":generating"}.items():
        _fake_tool(
            name = name + "_tool",
            tags = ["manual"],
        )
        executorch_codegen_toolchain(
            name = name + "_codegen",
            codegen = name + "_tool",
            tags = ["manual"],
        )
        native.toolchain(
            name = name + "_toolchain",
            exec_compatible_with = [constraint],
            tags = ["manual"],
            toolchain = name + "_codegen",
            toolchain_type = "//rules:codegen_toolchain_type",
        )

def exec_groups_test_suite(name):
    """Tests of where actions run.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    groups = {
        "grouped_aot_lib": ["codegen", "cpp_link", "python", "symbols"],
        "grouped_binary": ["codegen", "cpp_link"],
        "grouped_kernels": ["codegen", "cpp_link"],
        "grouped_lib": ["codegen", "cpp_link", "symbols"],
        "grouped_torch_ops": ["codegen", "cpp_link", "python", "symbols"],
    }
    attributes = {
        target: {
            "exec_properties": {group + ".pool": "any" for group in groups[target]},
            "tags": ["manual"],
        }
        for target in groups
    }
    executorch_custom_ops_aot_lib(
        name = "grouped_aot_lib",
        custom_ops_yaml_target = "custom_ops.yaml",
        **attributes["grouped_aot_lib"]
    )
    executorch_binary(
        name = "grouped_binary",
        deps = [":grouped_lib"],
        **attributes["grouped_binary"]
    )
    et_kernel_library(
        name = "grouped_kernels",
        srcs = ["op_a.cpp"],
        **attributes["grouped_kernels"]
    )
    executorch_generated_lib(
        name = "grouped_lib",
        functions_yaml_target = "functions.yaml",
        kernel_deps = [":grouped_kernels"],
        deps = [":selection_union"],
        **attributes["grouped_lib"]
    )
    torch_op_library(
        name = "grouped_torch_ops",
        srcs = ["ops.cpp"],
        **attributes["grouped_torch_ops"]
    )
    for target in groups:
        _groups_test(
            name = target + "_test",
            size = "small",
            target_under_test = ":" + target,
        )
    _machine()
    _machines_test(
        name = "machines_test",
        size = "small",
        target_under_test = ":grouped_lib",
    )
    _arm_toolchains()
    torch_op_library(
        name = "for_arm",
        srcs = ["ops.cpp"],
        tags = ["manual"],
    )
    _not_loaded_test(
        name = "not_loaded_test",
        size = "small",
        target_under_test = ":for_arm",
    )
    _loaded_test(
        name = "loaded_test",
        size = "small",
        target_under_test = ":for_arm",
    )
    suite_of_new_tests(name, before)
