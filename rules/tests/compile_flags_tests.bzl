"""Analysis tests of what our C++ is compiled with, where the toolchain has no options of its own."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

# buildifier: disable=bzl-visibility
load("//rules/private/executorch:executorch_cc_library.bzl", "executorch_cc_library")
load(":analysis.bzl", "action_with_mnemonic", "case", "suite_of_new_tests")

def _compile_flags_test_impl(ctx):
    env = analysistest.begin(ctx)
    argv = action_with_mnemonic(env, "CppCompile").argv
    found = [flag for flag in argv if flag.startswith("-std=") or flag.startswith("-O") or flag.endswith("-sections")]
    asserts.equals(env, ctx.attr.expected, found)
    return analysistest.end(env)

def _compile_flags_test(**options):
    """A test whose target is built with certain options, by a toolchain that adds none.

    Args:
      **options: values of Bazel's options.
    """
    return analysistest.make(
        _compile_flags_test_impl,
        attrs = {"expected": attr.string_list(mandatory = True)},
        config_settings = {"//command_line_option:" + option: value for option, value in options.items()} | {
            "//command_line_option:extra_toolchains": str(Label("//rules/tests:arm_cc_toolchain")),
            "//command_line_option:platforms": str(Label("//rules/tests:arm_linux")),
        },
    )

_fastbuild_test = _compile_flags_test(compilation_mode = "fastbuild", copt = [])
_dbg_test = _compile_flags_test(compilation_mode = "dbg", copt = [])
_copt_test = _compile_flags_test(compilation_mode = "fastbuild", copt = ["-O1"])
_cxxopt_test = _compile_flags_test(compilation_mode = "fastbuild", copt = [], cxxopt = ["-std=c++20"])

_SECTIONS = ["-ffunction-sections", "-fdata-sections"]

def compile_flags_test_suite(name):
    """Tests of the options that C++ is compiled with.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    executorch_cc_library(
        name = "cc_plain",
        srcs = ["op_a.cpp"],
        tags = ["manual"],
    )
    case(
        name = "cc_with_options",
        expect = {
            "expected": _SECTIONS + ["-std=c++20", "-Os"],
        },
        rule = executorch_cc_library,
        test = _fastbuild_test,
        srcs = ["op_a.cpp"],
        copts = ["-std=c++20", "-Os"],
    )
    _fastbuild_test(
        name = "cc_fastbuild_test",
        size = "small",
        expected = ["-std=c++17", "-O2"] + _SECTIONS,
        target_under_test = ":cc_plain",
    )
    _dbg_test(
        name = "cc_dbg_test",
        size = "small",
        expected = ["-std=c++17"],
        target_under_test = ":cc_plain",
    )
    _copt_test(
        name = "cc_copt_test",
        size = "small",
        expected = ["-O1", "-std=c++17"] + _SECTIONS,
        target_under_test = ":cc_plain",
    )
    _cxxopt_test(
        name = "cc_cxxopt_test",
        size = "small",
        expected = ["-std=c++20", "-O2"] + _SECTIONS,
        target_under_test = ":cc_plain",
    )
    suite_of_new_tests(name, before)
