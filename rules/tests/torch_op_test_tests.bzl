"""Analysis tests of torch_op_test."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//rules:defs.bzl", "torch_op_test")
load(":analysis.bzl", "case", "failure_test", "suite_of_new_tests")
load(":newer_py_library.bzl", "newer_py_library")

def _launcher_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    script = [a.content for a in analysistest.target_actions(env) if a.mnemonic == "FileWrite"][0]
    for flag in [
        "'--op=my_ops::mul3.out'",
        "'--samples=rules/tests/samples.py'",
        "'--entry_point=mul3_samples'",
        "'--backend=inductor'",
        "'--gradcheck' '--export'",
        "'--import_path=.'",
    ]:
        asserts.true(env, flag in script, flag + " in " + script)
    for flag in ["--vmap", "--compile"]:
        asserts.false(env, flag in script, flag + " in " + script)
    asserts.true(env, script.endswith(' "$@"\n'), "the test's own arguments are passed on: " + script)
    files = [f.short_path for f in target[DefaultInfo].default_runfiles.files.to_list()]
    for file in ["samples.py", "operator.py", "weights.bin"]:
        asserts.true(env, "rules/tests/" + file in files, file + " is there when the test runs")
    return analysistest.end(env)

_launcher_test = analysistest.make(_launcher_test_impl)

def torch_op_test_test_suite(name):
    """Tests of torch_op_test.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    newer_py_library(
        name = "torch_operator",
        srcs = ["operator.py"],
        tags = ["manual"],
    )
    case(
        name = "torch_op",
        rule = torch_op_test,
        test = _launcher_test,
        backend = "inductor",
        data = ["weights.bin"],
        entry_point = "mul3_samples",
        export = True,
        gradcheck = True,
        op = "my_ops::mul3.out",
        samples = "samples.py",
        deps = [":torch_operator"],
    )
    case(
        name = "torch_op_without_namespace",
        expect = {
            "id": "bad-operator-name",
            "names": ["attribute op", "\"mul3.out\""],
        },
        rule = torch_op_test,
        test = failure_test,
        op = "mul3.out",
        samples = "samples.py",
    )
    suite_of_new_tests(name, before)
