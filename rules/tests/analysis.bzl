"""What the analysis tests share: finding an action and its arguments, and tests of errors."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def action_with_mnemonic(env, mnemonic):
    """The one action of the target under test with a mnemonic.

    Args:
      env: what analysistest.begin returned.
      mnemonic: str.
    Returns:
      Action
    """
    found = [a for a in analysistest.target_actions(env) if a.mnemonic == mnemonic]
    asserts.equals(env, 1, len(found), "actions with mnemonic " + mnemonic)
    return found[0]

def main_source(env):
    """The text of the generated main function of the binary under test.

    Args:
      env: what analysistest.begin returned.
    Returns:
      str
    """
    return [
        a.content
        for a in analysistest.target_actions(env)
        if a.mnemonic == "FileWrite" and a.outputs.to_list()[0].basename.endswith(".main.cpp")
    ][0]

def values_of(argv, flag):
    """The values that a flag has in a command line, both as `--flag value` and as `--flag=value`.

    Args:
      argv: list[str].
      flag: str, with its dashes.
    Returns:
      list[str]
    """
    apart = [argv[i + 1] for i in range(len(argv) - 1) if argv[i] == flag]
    return apart + [a.removeprefix(flag + "=") for a in argv if a.startswith(flag + "=")]

def assert_ends(env, suffixes, paths):
    """Asserts that there are as many paths as suffixes, and each ends with its suffix.

    Args:
      env: what analysistest.begin returned.
      suffixes: list[str].
      paths: list[str].
    """
    asserts.equals(env, len(suffixes), len(paths), "number of {}".format(paths))
    for suffix, path in zip(suffixes, paths):
        asserts.true(env, path.endswith(suffix), "{} does not end with {}".format(path, suffix))

def assert_error(env, message, where, id, names):
    """Asserts the place and the id of an error, and the names and values in the message; the words are in the rule alone.

    Args:
      env: what analysistest.begin or unittest.begin returned.
      message: str, the error.
      where: str, the label that the message begins with.
      id: str, the id in docs/errors.md that the message ends with.
      names: list[str], the attributes, values and labels that the message names after its place.
    """
    asserts.true(env, message.startswith(where + ": "), "{} is not the place of: {}".format(where, message))
    for name in names:
        asserts.true(env, name in message.removeprefix(where), "{} is not in: {}".format(name, message))
    asserts.true(env, message.endswith("\nSee: docs/errors.md#" + id), "{} is not the id of: {}".format(id, message))

def _failure_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    causes = target[AnalysisFailureInfo].causes.to_list() if AnalysisFailureInfo in target else []
    if not ctx.attr.id:
        found = [cause for cause in causes if not [name for name in ctx.attr.names if name not in cause.message]]
        asserts.true(env, bool(found), "no error has all of {}: {}".format(ctx.attr.names, causes))
        return analysistest.end(env)
    asserts.equals(env, 1, len(causes), "number of errors")
    for cause in causes:
        _, found, message = cause.message.rpartition("Error in fail: ")
        asserts.true(env, bool(found), "this is no error of the rule: " + cause.message)
        assert_error(env, message.rstrip(), str(target.label), ctx.attr.id, ctx.attr.names)
    return analysistest.end(env)

def failure_test_rule(config_settings = {}):
    """A rule whose tests assert that the analysis of a target fails: the place, the id and the names in the message.

    Args:
      config_settings: dict[str, value], the flags that the target is analyzed with.
    Returns:
      rule
    """
    return analysistest.make(
        _failure_test_impl,
        attrs = {
            "id": attr.string(doc = "The id of the error in docs/errors.md; none for errors of Bazel."),
            "names": attr.string_list(
                doc = "The attributes, values and labels that the message names, and no sentences.",
                mandatory = True,
            ),
        },
        config_settings = config_settings,
        expect_failure = True,
    )

failure_test = failure_test_rule()

def case(name, rule, test, expect = {}, **attrs):
    """Defines a target and the test `<name>_test` of its analysis.

    Args:
      name: str, the name of the target.
      rule: the rule or macro of the target.
      test: the rule of the test: failure_test, or what analysistest.make returned.
      expect: dict[str, value], the attributes of the test: for failure_test, `id` and `names`.
      **attrs: the attributes of the target.
    """
    rule(name = name, tags = ["manual"], **attrs)
    test(name = name + "_test", size = "small", target_under_test = ":" + name, **expect)

def suite_of_new_tests(name, before):
    """Defines a test suite of the tests that the package got after `before`, without those with the tag `manual`.

    Args:
      name: str, the name of the suite.
      before: list[str], the names that native.existing_rules() had.
    """
    native.test_suite(
        name = name,
        tests = [
            ":" + new
            for new, attrs in native.existing_rules().items()
            if new not in before and attrs["kind"].endswith("_test") and "manual" not in attrs["tags"]
        ],
    )
