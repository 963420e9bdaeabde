"""The repository of Wine, which runs programs for Windows, from Debian's packages."""

load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_WINE_ERR = """could not install Wine: {found}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror.
Fix: skip the tests of Windows: bazel test -- //... -//tests/compiled:windows_test"""

_LIBRARIES = "usr/lib/x86_64-linux-gnu/wine/x86_64-windows"

# What a program of the console needs. The rest of Windows takes 600 MB.
_KEPT = [name + ".dll" for name in ["kernel32", "kernelbase", "msvcrt", "ntdll"]]

# Each program has a new folder for the drive C:, without a registry. No other programs, such as services, start there.
_LAUNCHER = """\
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
WINEPREFIX=$(mktemp -d -p "${TEST_TMPDIR:-/tmp}")
export WINEPREFIX WINEDEBUG=-all LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu"
mkdir -p "$WINEPREFIX/drive_c/windows"
ln -s "$root/LIBRARIES" "$WINEPREFIX/drive_c/windows/system32"
"$root/usr/lib/wine/wine64" "$@"
status=$?
"$root/usr/lib/wine/wineserver" --kill
rm -r "$WINEPREFIX"
exit $status
"""

def _wine_repository_impl(rctx):
    extract_debian_packages(rctx, ["libunwind8", "libwine", "wine64"], NO_WINE_ERR)
    if not rctx.path(_LIBRARIES).exists:
        fail(NO_WINE_ERR.format(found = "the package libwine has no " + _LIBRARIES))
    for library in rctx.path(_LIBRARIES).readdir():
        if library.basename not in _KEPT:
            rctx.delete(library)

    # The package's script has the path of the machine.
    rctx.delete("usr/lib/wine/wineserver")
    rctx.symlink("usr/lib/wine/wineserver64", "usr/lib/wine/wineserver")
    rctx.file("wine.sh", _LAUNCHER.replace("LIBRARIES", _LIBRARIES), executable = True)
    rctx.file("BUILD.bazel", """\
package(default_visibility = ["//visibility:public"])

exports_files(["wine.sh"])

filegroup(
    name = "files",
    srcs = glob(["usr/lib/**", "usr/share/wine/nls/**"]),
)
""")

wine_repository = repository_rule(
    doc = "Wine, as `:wine.sh`, which runs a program of the Windows console, with its `:files`.",
    implementation = _wine_repository_impl,
)
