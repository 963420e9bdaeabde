"""Errors of the launcher."""


class LauncherError(Exception):
    """The launcher cannot continue. The message is one sentence with the failure and the fix."""


OTHER_WAYS = "put bazelisk or a Bazel 7 or newer on the PATH, or set BAZEL_REAL to one"
