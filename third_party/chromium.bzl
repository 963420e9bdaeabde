"""The repository of Chromium for tests of pages, from Debian's packages."""

load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_CHROMIUM_ERR = """could not install Chromium: {found}.

Likely cause: this machine is not Debian, or reaches no package mirror.
Fix: install chromium, or skip the tests in a browser: bazel test -- //... -//profiles/tests:browser_test."""

_INSTALLED = "/usr/bin/chromium"

_LAUNCHER = """\
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$root/usr/lib/chromium{libraries} exec "$root/usr/lib/chromium/chromium" "$@"
"""

def _chromium_repository_impl(rctx):
    installed = rctx.path(_INSTALLED)
    if installed.exists:
        rctx.symlink(installed, "chromium.sh")
    else:
        extract_debian_packages(rctx, ["chromium"], NO_CHROMIUM_ERR, with_dependencies = True)
        if not rctx.path("usr/lib/chromium/chromium").exists:
            fail(NO_CHROMIUM_ERR.format(found = "the package chromium has no usr/lib/chromium/chromium"))
        found = rctx.execute(["find", "usr/lib", "lib", "-name", "*.so*", "-printf", "%h\n"]).stdout.split("\n")
        folders = {folder: None for folder in found if folder}.keys()
        rctx.file("chromium.sh", _LAUNCHER.format(libraries = "".join([":$root/" + folder for folder in sorted(folders)])))
    rctx.symlink(rctx.attr._build_file, "BUILD.bazel")

chromium_repository = repository_rule(
    doc = "Chromium of the machine or of Debian, as `:chromium.sh`, with its `:files`.",
    implementation = _chromium_repository_impl,
    attrs = {
        "_build_file": attr.label(
            default = "//third_party:chromium.BUILD.bazel",
            doc = "The repository's BUILD file.",
        ),
    },
)
