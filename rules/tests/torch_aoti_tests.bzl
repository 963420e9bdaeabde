"""Analysis tests of torch_aoti_package, torch_aoti_binary and torch_aoti_test."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_python//python:defs.bzl", "py_library")
load("//rules:defs.bzl", "torch_aoti_binary", "torch_aoti_package", "torch_aoti_test")
load("//rules:providers.bzl", "TorchAotiPackageInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "case", "failure_test", "main_source", "suite_of_new_tests", "values_of")

def _package_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    action = action_with_mnemonic(env, "EtAotiCompile")
    asserts.equals(env, ["//rules/tests:aoti_package"], values_of(action.argv, "--label"))
    asserts.equals(env, ["make"], values_of(action.argv, "--entry_point"))
    assert_ends(env, ["rules/tests/model.py"], values_of(action.argv, "--model"))
    asserts.equals(env, 1, len(values_of(action.argv, "--compiler")), "the toolchain's compiler")
    asserts.true(env, "-shared" in values_of(action.argv, "--link_flag"), "the toolchain's flags for a shared library")
    asserts.false(env, "--native" in action.argv, "compiles for any machine")
    inputs = [f.basename for f in action.inputs.to_list()]
    for file in ["model.py", "operator.py", "weights.bin"]:
        asserts.true(env, file in inputs, file + " is an input")
    outputs = ["aoti_package.operators.txt", "aoti_package.ptd", "aoti_package.pt2"]
    asserts.equals(env, sorted(outputs), sorted([f.basename for f in action.outputs.to_list()]))
    info = target[TorchAotiPackageInfo]
    asserts.equals(env, outputs, [f.basename for f in [info.operators, info.samples, info.package]])
    asserts.equals(env, [info.package], target[DefaultInfo].files.to_list())
    return analysistest.end(env)

_package_test = analysistest.make(_package_test_impl)

def _native_test_impl(ctx):
    env = analysistest.begin(ctx)
    action = action_with_mnemonic(env, "EtAotiCompile")
    asserts.true(env, "--native" in action.argv, "compiles for the machine that builds")
    return analysistest.end(env)

_native_test = analysistest.make(_native_test_impl)

def _binary_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    source = main_source(env)
    for part in ctx.attr.expected:
        asserts.true(env, part in source, part + " in " + source)
    check = action_with_mnemonic(env, "EtTorchCheck")
    assert_ends(env, ["rules/tests/aoti_package.operators.txt"], values_of(check.argv, "--needed"))
    asserts.equals(env, ["//rules/tests:aoti_package"], values_of(check.argv, "--package"))
    asserts.true(env, check.outputs.to_list()[0] in target[OutputGroupInfo]._validation.to_list(), "is a validation")
    files = [f.short_path for f in target[DefaultInfo].default_runfiles.files.to_list()]
    for file in ["aoti_package.pt2", "aoti_package.ptd"]:
        asserts.true(env, "rules/tests/" + file in files, file + " is there when the binary runs")
    return analysistest.end(env)

_binary_test = analysistest.make(
    _binary_test_impl,
    attrs = {"expected": attr.string_list()},
)

def torch_aoti_test_suite(name):
    """Tests of the rules for AOTInductor.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    py_library(
        name = "aoti_operator",
        srcs = ["operator.py"],
        tags = ["manual"],
    )
    torch_aoti_package(
        name = "aoti_package",
        data = ["weights.bin"],
        entry_point = "make",
        model = "model.py",
        tags = ["manual"],
        deps = [":aoti_operator"],
    )
    case(
        name = "aoti_native_package",
        rule = torch_aoti_package,
        test = _native_test,
        cpu = "native",
        model = "model.py",
    )
    case(
        name = "aoti_binary",
        expect = {
            "expected": [
                "#include \"runtime/aoti/runner.h\"",
                "AotiRunnerMain(",
                "rules/tests/aoti_package.pt2",
                "/*check=*/false",
            ],
        },
        rule = torch_aoti_binary,
        test = _binary_test,
        package = ":aoti_package",
    )
    case(
        name = "aoti_check",
        expect = {
            "expected": [
                "rules/tests/aoti_package.ptd",
                "/*check=*/true, /*rtol=*/{}, /*atol=*/1e-3",
            ],
        },
        rule = torch_aoti_test,
        test = _binary_test,
        atol = "1e-3",
        package = ":aoti_package",
    )
    case(
        name = "aoti_bad_tolerance",
        expect = {
            "id": "bad-tolerance",
            "names": ["attribute rtol", "\"small\""],
        },
        rule = torch_aoti_test,
        test = failure_test,
        package = ":aoti_package",
        rtol = "small",
    )
    cc_library(
        name = "aoti_no_operators",
        tags = ["manual"],
    )
    case(
        name = "aoti_binary_of_any_library",
        expect = {
            "names": ["//rules/tests:aoti_no_operators", "mandatory providers", "TorchOpInfo"],
        },
        rule = torch_aoti_binary,
        test = failure_test,
        package = ":aoti_package",
        deps = [":aoti_no_operators"],
    )
    _package_test(
        name = "aoti_package_test",
        size = "small",
        target_under_test = ":aoti_package",
    )
    suite_of_new_tests(name, before)
