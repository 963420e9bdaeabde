"""Analysis tests of executorch_bundle."""

load("//rules:defs.bzl", "executorch_bundle")
load(":analysis.bzl", "failure_test", "suite_of_new_tests")

def executorch_bundle_test_suite(name):
    """Tests of the rule, and the targets that they look at.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    executorch_bundle(
        name = "bundle_of_a_test",
        testonly = True,
        binary = ":python_environment_test",
        tags = ["manual"],
    )
    failure_test(
        name = "bundle_of_a_test_test",
        id = "test-in-bundle",
        names = ["attribute binary", "//rules/tests:python_environment_test", "py_test"],
        target_under_test = ":bundle_of_a_test",
    )
    suite_of_new_tests(name, before)
