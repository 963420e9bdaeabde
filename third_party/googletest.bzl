"""googletest, the library of this repository's C++ tests, from Debian's package of its sources."""

load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_SOURCES_ERR = """could not install the sources of googletest: {found}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror.
Fix: put the sources into /usr/src/googletest (Debian: apt-get install googletest), or skip the C++ tests."""

_INSTALLED = "/usr/src/googletest"

def _googletest_repository_impl(rctx):
    sources = rctx.path(_INSTALLED)
    if not sources.exists:
        extract_debian_packages(rctx, ["googletest"], NO_SOURCES_ERR)
        sources = rctx.path("usr/src/googletest")
    rctx.symlink(sources.get_child("googletest"), "googletest")
    rctx.symlink(rctx.attr._build_file, "BUILD.bazel")

googletest_repository = repository_rule(
    doc = "googletest as `:gtest` and `:gtest_main`, from Debian's package of its sources.",
    implementation = _googletest_repository_impl,
    attrs = {
        "_build_file": attr.label(
            default = "//third_party:googletest.BUILD.bazel",
            doc = "The repository's BUILD file.",
        ),
    },
)
