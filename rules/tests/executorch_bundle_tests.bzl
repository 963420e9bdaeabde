"""Analysis tests of executorch_bundle."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//rules:defs.bzl", "executorch_bundle")

def _of_a_test_test_impl(ctx):
    env = analysistest.begin(ctx)
    for part in [
        "//rules/tests:bundle_of_a_test: attribute binary: ",
        "//rules/tests:python_environment_test is a test (py_test)",
        "Fix: bundle an executorch_binary with the same deps and program",
        "See: docs/errors.md#test-in-bundle",
    ]:
        asserts.expect_failure(env, part)
    return analysistest.end(env)

_of_a_test_test = analysistest.make(_of_a_test_test_impl, expect_failure = True)

def executorch_bundle_test_suite(name):
    """Tests of the rule, and the targets that they look at."""
    executorch_bundle(
        name = "bundle_of_a_test",
        testonly = True,
        binary = ":python_environment_test",
        tags = ["manual"],
    )
    _of_a_test_test(
        name = "bundle_of_a_test_test",
        target_under_test = ":bundle_of_a_test",
    )
    native.test_suite(
        name = name,
        tests = [":bundle_of_a_test_test"],
    )
