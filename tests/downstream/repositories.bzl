"""The Bazel that runs this build, for tests that run Bazel."""

NO_BAZEL_ERR = """no Bazel for tests that run one: neither EXECUTORCH_BAZEL nor a bazelisk or bazel on the PATH.

Likely cause: this build was not started by tools/bazel.
Fix: tools/bazel test //..., or --repo_env=EXECUTORCH_BAZEL=/path/to/bazel."""

def _bazel_repository_impl(rctx):
    bazel = rctx.os.environ.get("EXECUTORCH_BAZEL") or rctx.which("bazelisk") or rctx.which("bazel")
    if not bazel:
        fail(NO_BAZEL_ERR)
    rctx.symlink(bazel, "bazel")
    rctx.file("BUILD.bazel", """exports_files(["bazel"])""")

bazel_repository = repository_rule(
    doc = "The Bazel that tools/bazel found or installed.",
    implementation = _bazel_repository_impl,
    environ = ["EXECUTORCH_BAZEL"],
)
