"""Analysis tests of how Python environments reach actions."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(":analysis.bzl", "action_with_mnemonic", "failure_test_rule", "suite_of_new_tests", "values_of")

_FLAG = str(Label("//rules:python_environment"))
_ENVIRONMENT = "@executorch_python//:packages"

def _files(env):
    return analysistest.target_under_test(env)[DefaultInfo].files.to_list()

def _directory_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, ["site-packages"], [file.basename for file in _files(env)])
    asserts.true(env, _files(env)[0].is_source, "a copy")
    asserts.equals(env, [], analysistest.target_actions(env))
    return analysistest.end(env)

_directory_test = analysistest.make(
    _directory_test_impl,
    doc = "Without the flag, nothing is copied.",
)

def _tree_test_impl(ctx):
    env = analysistest.begin(ctx)
    tree = _files(env)[0]
    asserts.true(env, tree.is_directory and not tree.is_source, "not the output of an action")
    action = action_with_mnemonic(env, "EtPythonEnvironment")
    asserts.true(env, action.argv[0].endswith("/python.sh"), action.argv[0])
    asserts.equals(env, [tree.path], values_of(action.argv, "--copy"))
    source = [file for file in action.inputs.to_list() if file.basename == "site-packages"]
    asserts.equals(env, [file.path for file in source], values_of(action.argv, "--directory"))
    asserts.equals(env, tree.short_path, source[0].short_path, "imports find one place in runfiles")
    return analysistest.end(env)

_tree_test = analysistest.make(
    _tree_test_impl,
    config_settings = {_FLAG: "tree"},
)

def _path_test_impl(ctx):
    env = analysistest.begin(ctx)
    action = action_with_mnemonic(env, "EtPythonEnvironment")
    fingerprint = values_of(action.argv, "--fingerprint")[0]
    asserts.equals(env, ["/opt/environments/{}/site-packages".format(fingerprint)], values_of(action.argv, "--directory"))
    asserts.false(env, [file for file in action.inputs.to_list() if file.basename == "site-packages"], "the packages are sent")
    link, checked = _files(env)
    asserts.equals(env, "site-packages", link.basename)
    asserts.equals(env, [checked.path], values_of(action.argv, "--output"))
    return analysistest.end(env)

_path_test = analysistest.make(
    _path_test_impl,
    config_settings = {_FLAG: "/opt/environments"},
)

_wrong_way_test = failure_test_rule({_FLAG: "folder"})

def python_environment_test_suite(name):
    """Tests of the flag //rules:python_environment.

    Args:
      name: name of the test suite.
    """
    before = native.existing_rules().keys()
    tests = {
        "python_directory_test": _directory_test,
        "python_path_test": _path_test,
        "python_tree_test": _tree_test,
    }
    for test, rule in tests.items():
        rule(name = test, size = "small", target_under_test = _ENVIRONMENT)
    _wrong_way_test(
        name = "python_wrong_way_test",
        size = "small",
        id = "unknown-python-environment",
        names = ["//rules:python_environment", "folder"],
        target_under_test = _ENVIRONMENT,
    )
    suite_of_new_tests(name, before)
