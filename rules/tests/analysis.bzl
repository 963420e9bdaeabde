"""What the analysis tests share: finding an action and its arguments, and suites of failure tests."""

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

def _failure_test_impl(ctx):
    env = analysistest.begin(ctx)
    for part in ctx.attr.expected:
        asserts.expect_failure(env, part)
    return analysistest.end(env)

failure_test = analysistest.make(
    _failure_test_impl,
    doc = "Asserts that analysis of a target fails with a message that contains every expected part.",
    attrs = {"expected": attr.string_list(mandatory = True)},
    expect_failure = True,
)
