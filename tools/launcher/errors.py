"""What the launcher says when it cannot go on."""


class LauncherError(Exception):
    """One sentence for the user: what went wrong, and what to do about it."""


OTHER_WAYS = "put bazelisk or a Bazel 7 or newer on the PATH, or set BAZEL_REAL to one"
