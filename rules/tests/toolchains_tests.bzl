"""Analysis tests of the toolchains: a runtime of the user's own takes the wheel's place."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@rules_python//python:defs.bzl", "py_runtime", "py_test")
load("@rules_python//python:py_runtime_pair.bzl", "py_runtime_pair")
load("//rules:defs.bzl", "executorch_runtime_component", "executorch_runtime_toolchain", "executorch_torch_component")
load("//rules/private/toolchains:toolchain_types.bzl", "TORCH_TOOLCHAIN_TYPE")
load("//rules/private/toolchains:workspace_python.bzl", "workspace_python")
load(":analysis.bzl", "case", "failure_test_rule", "suite_of_new_tests")

_WITH_OWN_TOOLCHAIN = {"//command_line_option:extra_toolchains": [str(Label("//rules/tests:own_toolchain"))]}

def _own_runtime_test_impl(ctx):
    env = analysistest.begin(ctx)
    defines = analysistest.target_under_test(env)[CcInfo].compilation_context.defines.to_list()
    asserts.equals(env, ["OWN_KERNEL_INCLUDES"], defines)
    return analysistest.end(env)

_own_runtime_test = analysistest.make(
    _own_runtime_test_impl,
    config_settings = _WITH_OWN_TOOLCHAIN,
)

_missing_component_test = failure_test_rule(_WITH_OWN_TOOLCHAIN)

_no_runtime_test = failure_test_rule({"//command_line_option:platforms": [str(Label("//rules/tests:android_arm64"))]})

def _wheel_runtime_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[CcInfo]
    asserts.true(env, "ET_EVENT_TRACER_ENABLED" in info.compilation_context.defines.to_list())
    libraries = [i.libraries for i in info.linking_context.linker_inputs.to_list() if i.libraries]
    asserts.equals(env, [], libraries, "kernel includes are headers only")
    return analysistest.end(env)

_wheel_runtime_test = analysistest.make(_wheel_runtime_test_impl)

def _libraries(info):
    return [
        library.dynamic_library.basename
        for linker_input in info.linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]

def _torch_headers_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[CcInfo]
    asserts.equals(env, [], _libraries(info), "torch_headers has no libraries")
    asserts.true(env, "_GLIBCXX_USE_CXX11_ABI=1" in info.compilation_context.defines.to_list())
    return analysistest.end(env)

_torch_headers_test = analysistest.make(_torch_headers_test_impl)

def _libtorch_test_impl(ctx):
    env = analysistest.begin(ctx)
    libraries = _libraries(analysistest.target_under_test(env)[CcInfo])
    asserts.true(env, "libtorch_cpu.so" in libraries and "libc10.so" in libraries, "found {}".format(libraries))
    asserts.false(env, "libtorch_python.so" in libraries, "a C++ binary has no Python in it")
    return analysistest.end(env)

_libtorch_test = analysistest.make(_libtorch_test_impl)

def _python_file_test_impl(ctx):
    env = analysistest.begin(ctx)
    runfiles = analysistest.target_under_test(env)[DefaultInfo].default_runfiles.files.to_list()
    names = [file.basename for file in runfiles]
    asserts.true(env, "interpreter.sh" in names, "the launcher runs the interpreter out of the runfiles: {}".format(names))
    (packing,) = [action for action in analysistest.target_actions(env) if action.mnemonic == "EtPackPython"]
    inputs = [file.basename for file in packing.inputs.to_list()]
    asserts.true(env, "interpreter.sh" in inputs, "the interpreter compiles the modules: {}".format(inputs))
    return analysistest.end(env)

def _other_python_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    names = [file.basename for file in target[DefaultInfo].default_runfiles.files.to_list()]
    asserts.true(env, names)
    asserts.false(env, "interpreter.sh" in names, "the interpreter of the workspace: {}".format(names))
    return analysistest.end(env)

_python_file_test = analysistest.make(
    _python_file_test_impl,
    doc = "An interpreter that is a file, as Bazel's own autodetecting toolchain has one.",
    config_settings = {"//command_line_option:extra_toolchains": [str(Label("//rules/tests:python_file_toolchain"))]},
)

_workspace_python_test = analysistest.make(
    _python_file_test_impl,
    doc = "The workspace's Python toolchain, if its hub has the packages.",
    config_settings = {"//command_line_option:extra_toolchains": [
        str(Label("//rules/tests:" + name))
        for name in ["workspace_python_toolchain", "python_of_workspace"]
    ]},
)

_other_python_test = analysistest.make(
    _other_python_test_impl,
    doc = "A Python toolchain of the workspace has no part in the tools.",
    config_settings = {"//command_line_option:extra_toolchains": [str(Label("//rules/tests:python_of_workspace"))]},
)

def _torch_version_impl(ctx):
    version = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(version, ctx.toolchains[TORCH_TOOLCHAIN_TYPE].version)
    return [DefaultInfo(files = depset([version]))]

torch_version = rule(
    doc = "The version that the toolchain says, as a file for torch_version_test.",
    implementation = _torch_version_impl,
    toolchains = [TORCH_TOOLCHAIN_TYPE],
)

def toolchains_test_suite(name):
    """Tests of the toolchains.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    for component in ["kernel_includes", "module", "program"]:
        cc_library(
            name = "own_" + component,
            defines = ["OWN_" + component.upper()],
            tags = ["manual"],
        )
    executorch_runtime_toolchain(
        name = "own_runtime",
        kernel_includes = ":own_kernel_includes",
        module = ":own_module",
        program = ":own_program",
        tags = ["manual"],
    )
    native.toolchain(
        name = "own_toolchain",
        toolchain = ":own_runtime",
        toolchain_type = "//rules:runtime_toolchain_type",
        tags = ["manual"],
    )
    executorch_runtime_component(
        name = "component",
        component = "kernel_includes",
        tags = ["manual"],
    )
    case(
        name = "program_component",
        expect = {
            "id": "no-runtime",
            "names": ["//rules/tests:android_arm64", "--platforms", "executorch_runtime_toolchain", "MODULE.bazel"],
        },
        rule = executorch_runtime_component,
        test = _no_runtime_test,
        component = "program",
    )
    case(
        name = "etdump_component",
        expect = {
            "id": "no-runtime-component",
            "names": ["etdump"],
        },
        rule = executorch_runtime_component,
        test = _missing_component_test,
        component = "etdump",
    )
    native.platform(
        name = "android_arm64",
        constraint_values = [
            "@platforms//cpu:aarch64",
            "@platforms//os:android",
        ],
        tags = ["manual"],
    )
    _own_runtime_test(
        name = "own_runtime_test",
        size = "small",
        target_under_test = ":component",
    )
    _wheel_runtime_test(
        name = "wheel_runtime_test",
        size = "small",
        target_under_test = ":component",
    )
    for component in ["libtorch", "torch_headers"]:
        executorch_torch_component(
            name = component + "_component",
            component = component,
            tags = ["manual"],
        )
    _libtorch_test(
        name = "libtorch_test",
        size = "small",
        target_under_test = ":libtorch_component",
    )
    _torch_headers_test(
        name = "torch_headers_test",
        size = "small",
        target_under_test = ":torch_headers_component",
    )
    py_runtime(
        name = "python_file",
        interpreter = "interpreter.sh",
        python_version = "PY3",
        tags = ["manual"],
    )
    py_runtime_pair(
        name = "python_file_pair",
        py3_runtime = ":python_file",
        tags = ["manual"],
        visibility = ["//visibility:public"],
    )
    native.toolchain(
        name = "python_file_toolchain",
        toolchain = ":python_file_pair",
        toolchain_type = "//rules:python_toolchain_type",
        tags = ["manual"],
    )
    _python_file_test(
        name = "python_file_test",
        size = "small",
        target_under_test = "//codegen",
    )
    workspace_python(
        name = "workspace_python",
        tags = ["manual"],
        visibility = ["//visibility:public"],
    )
    for name_of_toolchain, toolchain, toolchain_type in [
        ("workspace_python_toolchain", ":workspace_python", "//rules:python_toolchain_type"),
        ("python_of_workspace", ":python_file_pair", "@rules_python//python:toolchain_type"),
    ]:
        native.toolchain(
            name = name_of_toolchain,
            toolchain = toolchain,
            toolchain_type = toolchain_type,
            tags = ["manual"],
        )
    _workspace_python_test(
        name = "workspace_python_test",
        size = "small",
        target_under_test = "//codegen",
    )
    for tool in ["codegen", "export"]:
        _other_python_test(
            name = "other_python_{}_test".format(tool),
            size = "small",
            target_under_test = "//" + tool,
        )
    torch_version(name = "torch_version")
    py_test(
        name = "torch_version_test",
        size = "small",
        srcs = ["torch_version_test.py"],
        data = [":torch_version"],
        deps = [
            "@executorch_codegen_python//:absl_py",
            "@executorch_python//:torch",
        ],
    )
    suite_of_new_tests(name, before)
