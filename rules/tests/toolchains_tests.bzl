"""Analysis tests of the toolchains: a runtime of the user's own takes the wheel's place."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_library")
load("//rules:defs.bzl", "executorch_runtime_component", "executorch_runtime_toolchain")

def _own_runtime_test_impl(ctx):
    env = analysistest.begin(ctx)
    defines = analysistest.target_under_test(env)[CcInfo].compilation_context.defines.to_list()
    asserts.equals(env, ["OWN_KERNEL_INCLUDES"], defines)
    return analysistest.end(env)

_own_runtime_test = analysistest.make(
    _own_runtime_test_impl,
    config_settings = {"//command_line_option:extra_toolchains": [str(Label("//rules/tests:own_toolchain"))]},
)

def _wheel_runtime_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[CcInfo]
    asserts.true(env, "ET_EVENT_TRACER_ENABLED" in info.compilation_context.defines.to_list())
    libraries = [i.libraries for i in info.linking_context.linker_inputs.to_list() if i.libraries]
    asserts.equals(env, [], libraries, "kernel includes are headers only")
    return analysistest.end(env)

_wheel_runtime_test = analysistest.make(_wheel_runtime_test_impl)

def toolchains_test_suite(name):
    """Tests of the toolchains.

    Args:
      name: name of the test suite.
    """
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
    native.test_suite(
        name = name,
        tests = [
            ":own_runtime_test",
            ":wheel_runtime_test",
        ],
    )
