"""Analysis tests of executorch_program."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_python//python:defs.bzl", "py_library")
load("//rules:defs.bzl", "executorch_program")
load("//rules:providers.bzl", "EtProgramInfo")
load(":analysis.bzl", "action_with_mnemonic", "assert_ends", "failure_test", "values_of")

def _export_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    action = action_with_mnemonic(env, "EtExport")
    asserts.equals(env, ["//rules/tests:program"], values_of(action.argv, "--label"))
    asserts.equals(env, ["make"], values_of(action.argv, "--entry_point"))
    assert_ends(env, ["rules/tests/model.py"], values_of(action.argv, "--model"))
    asserts.equals(env, ".", values_of(action.argv, "--import_path")[0])
    inputs = [f.basename for f in action.inputs.to_list()]
    for file in ["model.py", "operator.py", "weights.bin"]:
        asserts.true(env, file in inputs, file + " is an input")
    asserts.equals(env, ["xnnpack", "other"], values_of(action.argv, "--backend"))
    asserts.equals(env, ["xnnpack_int8"], values_of(action.argv, "--quantize"))
    asserts.equals(
        env,
        ["program.pte", "program.ptd", "program.delegation.txt", "program.delegation.json", "program.origins.json"],
        [f.basename for f in action.outputs.to_list()],
    )
    asserts.equals(
        env,
        ["program.delegation.txt", "program.delegation.json"],
        [f.basename for f in target[OutputGroupInfo].delegation_report.to_list()],
    )
    asserts.equals(env, "program.pte", target[EtProgramInfo].program.basename)
    asserts.equals(env, "program.delegation.json", target[EtProgramInfo].delegation.basename)
    asserts.equals(env, "program.ptd", target[EtProgramInfo].samples.basename)
    asserts.equals(env, [target[EtProgramInfo].program], target[DefaultInfo].files.to_list())
    return analysistest.end(env)

_export_test = analysistest.make(_export_test_impl)

def executorch_program_test_suite(name):
    """Tests of executorch_program.

    Args:
      name: name of the test suite.
    """
    py_library(
        name = "operator",
        srcs = ["operator.py"],
        tags = ["manual"],
    )
    executorch_program(
        name = "program",
        backends = [
            "xnnpack",
            "other",
        ],
        data = ["weights.bin"],
        entry_point = "make",
        model = "model.py",
        quantize = "xnnpack_int8",
        tags = ["manual"],
        deps = [":operator"],
    )
    executorch_program(
        name = "program_not_python",
        model = "weights.bin",
        tags = ["manual"],
    )
    _export_test(
        name = "program_export_test",
        size = "small",
        target_under_test = ":program",
    )
    failure_test(
        name = "program_not_python_test",
        size = "small",
        expected = ["'//rules/tests:weights.bin' does not produce any executorch_program model files (expected .py)"],
        target_under_test = ":program_not_python",
    )
    native.test_suite(
        name = name,
        tests = [
            ":program_export_test",
            ":program_not_python_test",
        ],
    )
