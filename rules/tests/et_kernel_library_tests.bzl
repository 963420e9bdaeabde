"""Analysis tests of et_kernel_library."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//rules:defs.bzl", "et_kernel_library")
load("//rules:providers.bzl", "EtKernelInfo")
load(":analysis.bzl", "failure_test")

def _providers_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    sources = {s.file.basename: s.operators for s in target[EtKernelInfo].sources.to_list()}
    asserts.equals(env, {
        "op_a.cpp": ("aten::a.out", "aten::a.Scalar_out"),
        "op_b.cpp": ("aten::b.out",),
        "shared.cpp": (),
    }, sources)
    copts = {s.file.basename: s.copts for s in target[EtKernelInfo].sources.to_list()}
    asserts.equals(env, ("-fwrapv",), copts["shared.cpp"])
    asserts.equals(env, (), copts["op_a.cpp"])
    libraries = [
        library
        for linker_input in target[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
    ]
    asserts.equals(env, 2, len(libraries), "both archives link")
    asserts.false(env, libraries[0].alwayslink, "a kernel that nothing refers to must not be linked")
    compiled = [a for a in analysistest.target_actions(env) if a.mnemonic == "CppCompile"]
    asserts.true(env, len(compiled) > 0)
    asserts.true(env, "C10_USING_CUSTOM_GENERATED_MACROS" in target[CcInfo].compilation_context.defines.to_list())
    return analysistest.end(env)

_providers_test = analysistest.make(_providers_test_impl)

def et_kernel_library_test_suite(name):
    """Tests of et_kernel_library.

    Args:
      name: name of the test suite.
    """
    et_kernel_library(
        name = "kernels_b",
        srcs = [
            "op_b.cpp",
            "shared.cpp",
        ],
        copts = ["-fwrapv"],
        operators = {
            "op_b.cpp": ["aten::b.out"],
            "shared.cpp": [],
        },
        tags = ["manual"],
    )
    et_kernel_library(
        name = "kernels_a",
        srcs = ["op_a.cpp"],
        operators = {"op_a.cpp": [
            "aten::a.out",
            "aten::a.Scalar_out",
        ]},
        tags = ["manual"],
        deps = [":kernels_b"],
    )
    et_kernel_library(
        name = "kernels_misnamed",
        srcs = ["op_a.cpp"],
        operators = {"op_a": ["aten::a.out"]},
        tags = ["manual"],
    )
    _providers_test(
        name = "kernels_test",
        size = "small",
        target_under_test = ":kernels_a",
    )
    failure_test(
        name = "kernels_misnamed_test",
        size = "small",
        expected = [
            "//rules/tests:kernels_misnamed: attribute operators names op_a, which is not in srcs",
            "Fix: use one of op_a.cpp as key",
            "See: docs/errors.md#not-a-source",
        ],
        target_under_test = ":kernels_misnamed",
    )
    native.test_suite(
        name = name,
        tests = [
            ":kernels_misnamed_test",
            ":kernels_test",
        ],
    )
