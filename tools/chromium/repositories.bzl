"""Chromium, in which pages are tested, from Debian's packages."""

NO_CHROMIUM_ERR = """Chromium could not be had: {found}.

Likely cause: this is no Debian machine, or it reaches no package mirror.
Fix: install chromium, or skip the tests in a browser: bazel test -- //... -//profiles/tests:browser_test."""

_INSTALLED = "/usr/bin/chromium"

_LAUNCHER = """\
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$root/usr/lib/chromium{libraries} exec "$root/usr/lib/chromium/chromium" "$@"
"""

def _download(rctx):
    """Downloads Debian's packages that the machine lacks into this repository; nothing is installed on the machine."""
    apt = rctx.which("apt-get")
    dpkg = rctx.which("dpkg-deb")
    if not apt or not dpkg:
        fail(NO_CHROMIUM_ERR.format(found = "there is no apt-get and no " + _INSTALLED))

    # Lists of packages of its own: those of the machine may be missing or old.
    for folder in ["apt/lists/partial", "apt/cache/archives/partial"]:
        rctx.execute(["mkdir", "-p", folder])
    options = ["-q", "-o", "Dir::State::lists={}/lists".format(rctx.path("apt")), "-o", "Dir::Cache={}/cache".format(rctx.path("apt"))]
    install = ["-y", "-o", "Debug::NoLocking=1", "--download-only", "--no-install-recommends", "install", "chromium"]
    for command in [["update"], install]:
        result = rctx.execute([apt] + options + command, timeout = 600)
        if result.return_code != 0:
            fail(NO_CHROMIUM_ERR.format(found = result.stderr or result.stdout))
    for package in rctx.path("apt/cache/archives").readdir():
        if package.basename.endswith(".deb"):
            result = rctx.execute([dpkg, "--extract", package, "."])
            if result.return_code != 0:
                fail(NO_CHROMIUM_ERR.format(found = result.stderr))
    rctx.delete("apt")
    if not rctx.path("usr/lib/chromium/chromium").exists:
        fail(NO_CHROMIUM_ERR.format(found = "the package chromium has no usr/lib/chromium/chromium"))

def _chromium_repository_impl(rctx):
    installed = rctx.path(_INSTALLED)
    if installed.exists:
        rctx.symlink(installed, "chromium.sh")
    else:
        _download(rctx)
        found = rctx.execute(["find", "usr/lib", "lib", "-name", "*.so*", "-printf", "%h\n"]).stdout.split("\n")
        folders = {folder: None for folder in found if folder}.keys()
        rctx.file("chromium.sh", _LAUNCHER.format(libraries = "".join([":$root/" + folder for folder in sorted(folders)])))
    rctx.symlink(rctx.attr._build_file, "BUILD.bazel")

chromium_repository = repository_rule(
    doc = "Chromium as `:chromium.sh`, the machine's or Debian's, with the `:files` that it needs.",
    implementation = _chromium_repository_impl,
    attrs = {
        "_build_file": attr.label(
            default = "//tools/chromium:chromium.BUILD.bazel",
            doc = "The repository's BUILD file.",
        ),
    },
)

def chromium_repositories():
    """Declares `chromium`."""
    chromium_repository(name = "chromium")
