"""What makes and reads object files for macOS and Windows: Zig, LIEF and llvm-nm."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")
load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_LLVM_ERR = """could not install llvm-nm: {found}.

Likely cause: this machine is not Debian or Ubuntu, or reaches no package mirror.
Fix: skip the tests that need llvm-nm: bazel test -- //:slow -//codegen/binaries/tests:macos_and_windows_test \
-//tests/compiled:android_test -//tests/compiled:ios_test -//tests/compiled:macos_test"""

_LAUNCHER = """\
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu exec "$root"/usr/lib/llvm-*/bin/llvm-nm "$@"
"""

_BUILD = """\
package(default_visibility = ["//visibility:public"])

exports_files(["llvm-nm"])

filegroup(
    name = "files",
    srcs = glob(
        [
            "usr/lib/llvm-*/bin/llvm-nm",
            "usr/lib/x86_64-linux-gnu/**",
        ],
        allow_empty = True,
    ),
)
"""

def _llvm_nm_repository_impl(rctx):
    extract_debian_packages(rctx, ["llvm"], NO_LLVM_ERR, with_dependencies = True, taken_anyway = ["Package: llvm"])
    rctx.delete("usr/share")
    rctx.file("llvm-nm", _LAUNCHER, executable = True)
    rctx.file("BUILD.bazel", _BUILD)

llvm_nm_repository = repository_rule(
    doc = "LLVM's `:llvm-nm`, which reads object files of all platforms, with its `:files`.",
    implementation = _llvm_nm_repository_impl,
)

def objects_repositories():
    """Declares `llvm_nm` and `objects_python`."""
    llvm_nm_repository(name = "llvm_nm")
    python_repository(
        name = "objects_python",
        packages = ["lief", "ziglang"],
        requirements = Label("//requirements:objects.txt"),
    )
