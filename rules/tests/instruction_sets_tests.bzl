"""Analysis tests of kernels for several instruction sets."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_python//python:defs.bzl", "py_test")
load("//rules:defs.bzl", "et_kernel_library", "executorch_generated_lib")

# buildifier: disable=bzl-visibility
load("//rules/private/actions:instruction_sets.bzl", "INSTRUCTION_SETS_ARM64", "INSTRUCTION_SETS_X86_64")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "failure_test_rule", "suite_of_new_tests", "values_of")

_FLAG = str(Label("//rules:instruction_sets"))
_LINUX_ARM64 = str(Label("//third_party/cross:linux_arm64"))
_X86_64 = ["@platforms//cpu:x86_64", "@platforms//os:linux"]

def _all_test_impl(ctx):
    env = analysistest.begin(ctx)
    generate = action_with_mnemonic(env, "EtGenerate").argv
    asserts.equals(env, ["avx512_bf16", "avx512", "avx2", "baseline"], values_of(generate, "--instruction_set"))
    assert_ends(env, ["wide_generated/ChosenKernels.cpp"], values_of(generate, "--chosen_kernels"))
    compiled = [
        a.outputs.to_list()[0].basename
        for a in analysistest.target_actions(env)
        if a.mnemonic == "CppCompile"
    ]
    for name, count in [("ChosenKernels", 1), ("KernelTable", 1), ("KernelsOfSet", 4), ("RegisterKernels", 1)]:
        asserts.equals(env, count, len([each for each in compiled if each == name + ".pic.o"]))

    # What only the widest sets have is compiled for them; no dtype is left out.
    prune = action_with_mnemonic(env, "EtPruneKernels").argv
    asserts.equals(env, [], values_of(prune, "--header"))
    asserts.equals(
        env,
        ["0:rules/tests/op_a.cpp:aten::a.out"],
        values_of(prune, "--source"),
    )
    isolate = [a for a in analysistest.target_actions(env) if a.mnemonic == "EtIsolateKernels"]
    kept = [value for a in isolate for value in values_of(a.argv, "--keep-global-symbol")]
    asserts.equals(env, [
        "_ZN*19kernels_avx512_bf16*E",
        "_ZN*14kernels_avx512*E",
        "_ZN*12kernels_avx2*E",
    ], kept)
    return analysistest.end(env)

_all_test = analysistest.make(
    _all_test_impl,
    config_settings = {_FLAG: ["all"], "//command_line_option:force_pic": True},
)

def _one_test_impl(ctx):
    env = analysistest.begin(ctx)

    # There is nothing to choose. The kernels ask whether the processor has the set.
    asserts.equals(env, [], values_of(action_with_mnemonic(env, "EtGenerate").argv, "--instruction_set"))
    asserts.equals(env, [], [a for a in analysistest.target_actions(env) if a.mnemonic in ["EtIsolateKernels", "EtPruneKernels"]])
    return analysistest.end(env)

_one_test = analysistest.make(_one_test_impl, config_settings = {_FLAG: ["avx2"]})

def _one_kernels_test_impl(ctx):
    env = analysistest.begin(ctx)
    for action in analysistest.target_actions(env):
        if action.mnemonic == "CppCompile":
            asserts.true(env, "-march=x86-64-v3" in action.argv)
    return analysistest.end(env)

_one_kernels_test = analysistest.make(_one_kernels_test_impl, config_settings = {_FLAG: ["avx2"]})

_unknown_test = failure_test_rule({_FLAG: ["avx"]})

def _arm64_test_impl(ctx):
    env = analysistest.begin(ctx)
    generate = action_with_mnemonic(env, "EtGenerate").argv
    asserts.equals(env, ["i8mm_bf16", "dotprod", "baseline"], values_of(generate, "--instruction_set"))
    return analysistest.end(env)

_arm64_test = analysistest.make(
    _arm64_test_impl,
    config_settings = {_FLAG: ["all"], "//command_line_option:platforms": _LINUX_ARM64},
)

_unknown_of_arm64_test = failure_test_rule({_FLAG: ["avx2"], "//command_line_option:platforms": _LINUX_ARM64})

def instruction_sets_test_suite(name):
    """Tests of //rules:instruction_sets.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    et_kernel_library(
        name = "wide_kernels",
        srcs = ["op_a.cpp"],
        for_instruction_sets = True,
        operators = {"op_a.cpp": ["aten::a.out"]},
        tags = ["manual"],
    )
    executorch_generated_lib(
        name = "wide_generated",
        custom_ops_yaml_target = "custom_ops.yaml",
        kernel_deps = [":wide_kernels"],
        tags = ["manual"],
        deps = [":selection_all"],
    )
    tests = {
        "wide_arm64_test": (_arm64_test, ":wide_generated"),
        "wide_all_test": (_all_test, ":wide_generated"),
        "wide_one_kernels_test": (_one_kernels_test, ":wide_kernels"),
        "wide_one_test": (_one_test, ":wide_generated"),
    }
    for test_name, (test, target) in tests.items():
        test(
            name = test_name,
            size = "small",
            target_compatible_with = _X86_64,
            target_under_test = target,
        )
    failures = {
        "wide_unknown_of_arm64_test": (_unknown_of_arm64_test, ["avx2", "arm64", "baseline, dotprod, i8mm_bf16"]),
        "wide_unknown_test": (_unknown_test, ["avx", "x86-64", "baseline, avx2, avx512, avx512_bf16"]),
    }
    for test_name, (test, names) in failures.items():
        test(
            name = test_name,
            size = "small",
            id = "unknown-instruction-set",
            names = ["//rules:instruction_sets"] + names,
            target_compatible_with = _X86_64,
            target_under_test = "//runtime/kernel_api:required_instruction_set",
        )
    py_test(
        name = "instruction_set_names_test",
        size = "small",
        srcs = ["instruction_set_names_test.py"],
        args = ["--x86_64=" + ",".join(INSTRUCTION_SETS_X86_64), "--arm64=" + ",".join(INSTRUCTION_SETS_ARM64)],
        data = [
            "//runtime/kernel_api:instruction_set.cpp",
            "//runtime/kernel_api:instruction_set.h",
        ],
        deps = [
            "//codegen/cpp",
            "//kernels/testing:processor",
            "@executorch_codegen_python//:absl_py",
        ],
    )
    suite_of_new_tests(name, before)
