"""The oldest Bazel that these rules work with, for a WORKSPACE; MODULE.bazel says the same to Bazel itself."""

visibility(["//rules/..."])

_OLDEST_BAZEL = "7.4.0"

OLD_BAZEL_ERR = """rules_executorch: expected Bazel {oldest} or newer; got {version}.

Likely cause: .bazelversion names this version, or the bazel on the PATH is of this version.
Fix: write {oldest} or a newer version into .bazelversion."""

def _numbers(version):
    """The numbers of `7.4.0`, `8.0.0rc1` or `7.7.0- (@non-git)`."""
    numbers = []
    for part in version.split("-")[0].split(" ")[0].split("."):
        digits = ""
        for character in part.elems():
            if not character.isdigit():
                break
            digits += character
        numbers.append(int(digits or "0"))
    return numbers

def check_bazel_version(version, fail = fail):
    """Fails for a version of Bazel that is too old.

    Args:
      version: the version; a Bazel that was built from a source tree says "", and passes.
      fail: what to call with a message.
    """
    if version and _numbers(version) < _numbers(_OLDEST_BAZEL):
        fail(OLD_BAZEL_ERR.format(oldest = _OLDEST_BAZEL, version = version))
