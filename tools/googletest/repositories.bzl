"""googletest, the library of this repository's C++ tests, from Debian's package of its sources."""

NO_SOURCES_ERR = """googletest's sources could not be had: {found}.

Likely cause: this is no Debian or Ubuntu machine, or it reaches no package mirror.
Fix: put them where Debian does, under /usr/src/googletest (Debian: apt-get install googletest), or skip the C++ tests."""

_INSTALLED = "/usr/src/googletest"

def _download(rctx):
    """Downloads Debian's package into this repository; nothing is installed on the machine."""
    apt = rctx.which("apt-get")
    dpkg = rctx.which("dpkg-deb")
    if not apt or not dpkg:
        fail(NO_SOURCES_ERR.format(found = "there is no apt-get and no " + _INSTALLED))

    # Lists of packages of its own: those of the machine may be missing or old.
    for folder in ["apt/lists/partial", "apt/cache/archives/partial"]:
        rctx.execute(["mkdir", "-p", folder])
    options = ["-q", "-o", "Dir::State::lists={}/lists".format(rctx.path("apt")), "-o", "Dir::Cache={}/cache".format(rctx.path("apt"))]
    for command in [["update"], ["download", "googletest"]]:
        result = rctx.execute([apt] + options + command, timeout = 600)
        if result.return_code != 0:
            fail(NO_SOURCES_ERR.format(found = result.stderr or result.stdout))
    packages = [path for path in rctx.path(".").readdir() if path.basename.startswith("googletest_")]
    result = rctx.execute([dpkg, "--extract", packages[0], "."])
    if result.return_code != 0:
        fail(NO_SOURCES_ERR.format(found = result.stderr))
    rctx.delete("apt")
    rctx.delete(packages[0])
    return rctx.path("usr/src/googletest")

def _googletest_repository_impl(rctx):
    sources = rctx.path(_INSTALLED)
    if not sources.exists:
        sources = _download(rctx)
    rctx.symlink(sources.get_child("googletest"), "googletest")
    rctx.symlink(rctx.attr._build_file, "BUILD.bazel")

googletest_repository = repository_rule(
    doc = "googletest as `:gtest` and `:gtest_main`, from Debian's package of its sources.",
    implementation = _googletest_repository_impl,
    attrs = {
        "_build_file": attr.label(
            default = "//tools/googletest:googletest.BUILD.bazel",
            doc = "The repository's BUILD file.",
        ),
    },
)

def googletest_repositories():
    """Declares `googletest`."""
    googletest_repository(name = "googletest")
