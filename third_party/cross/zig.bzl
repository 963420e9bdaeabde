"""Repository of Zig, whose clang compiles for macOS, iOS and Android, from PyPI."""

# The parts of the package that a compiler for these platforms reads. Zig takes the folder with std/std.zig for its own.
_PARTS = [
    "include",
    "libc/include/aarch64-linux-musl",
    "libc/include/any-darwin-any",
    "libc/include/generic-musl",
    "libcxx/include",
    "std/std.zig",
]

# Zig's names of the platforms, and the folders of headers. The package has no headers of iOS and of Android.
_PLATFORMS = {
    "android_arm64": struct(headers = ("aarch64-linux-musl", "generic-musl"), target = "aarch64-linux-android"),
    "ios_arm64": struct(headers = ("any-darwin-any", "any-darwin-any"), target = "aarch64-ios"),
    "macos_arm64": struct(headers = ("any-darwin-any", "any-darwin-any"), target = "aarch64-macos"),
}

# The list of symbols of Apple's C++ library, which the package has not, as far as programs need them.
_CPP_LIBRARY = """\
--- !tapi-tbd
tbd-version: 4
targets: [ arm64-%s ]
install-name: '/usr/lib/libc++.1.dylib'
exports:
  - targets: [ arm64-%s ]
    symbols: [ __ZNSt3__16chrono12steady_clock3nowEv, __ZTVN10__cxxabiv117__class_type_infoE,
               __ZTVN10__cxxabiv120__si_class_type_infoE, __ZdlPvm, ___cxa_guard_acquire,
               ___cxa_guard_release, ___cxa_pure_virtual ]
...
"""

# Zig compiles C++ with its C++ library's headers if the command is `c++`, and links this library then. Paths are relative to
# the execution root.
_COMPILER = """\
#!/bin/sh
root=${0%%/bin/*}
headers=$root/lib/libc/include
cache=$(mktemp -d)
trap 'rm -r "$cache"' EXIT
export ZIG_LIB_DIR=$root/lib ZIG_LIBC=$cache/libc.txt ZIG_GLOBAL_CACHE_DIR=$cache ZIG_LOCAL_CACHE_DIR=$cache
cat > "$ZIG_LIBC" << END
include_dir=$headers/%s
sys_include_dir=$headers/%s
END
for key in cc_dir crt_dir darwin_sdk_dir gcc_dir kernel32_lib_dir msvc_lib_dir; do
  echo "$key=$root/sdk/%s" >> "$ZIG_LIBC"
done
command=cc
for argument in "$@"; do
  case $argument in *.cpp) command=c++ ;; esac
done
"$root/bin/zig" $command -target %s "$@"
"""
_ARCHIVER = """\
#!/bin/sh
exec "${0%/*}/zig" ar "$@"
"""

def _zig_repository_impl(rctx):
    package = rctx.path(Label("@objects_python//:BUILD.bazel")).dirname.get_child("site-packages", "ziglang")
    rctx.symlink(package.get_child("zig"), "bin/zig")
    for part in _PARTS:
        rctx.symlink(package.get_child("lib", *part.split("/")), "lib/" + part)
    for name, platform in _PLATFORMS.items():
        rctx.file("bin/" + name, _COMPILER % (platform.headers + (name, platform.target)), executable = True)
    rctx.file("bin/ar", _ARCHIVER, executable = True)

    # Zig has none.
    rctx.symlink(Label("@llvm_nm//:llvm-nm"), "bin/nm")

    # iOS has the symbols of macOS's C library, too.
    darwin = package.get_child("lib", "libc", "darwin")
    symbols = rctx.read(darwin.get_child("libSystem.tbd"))
    for system, system_symbols in {"ios": symbols.replace("arm64e-macos", "arm64-ios"), "macos": symbols}.items():
        sdk = "sdk/{}_arm64/".format(system)
        rctx.symlink(darwin.get_child("SDKSettings.json"), sdk + "SDKSettings.json")
        rctx.file(sdk + "libSystem.tbd", system_symbols)
        rctx.file(sdk + "libc++.tbd", _CPP_LIBRARY % (system, system))
    rctx.symlink(rctx.attr._build_file, "BUILD.bazel")

zig_repository = repository_rule(
    doc = "Zig, which runs on x86-64.",
    implementation = _zig_repository_impl,
    attrs = {
        "_build_file": attr.label(
            default = "//third_party/cross:zig.BUILD.bazel",
            doc = "The repository's BUILD file, which declares the toolchains.",
        ),
    },
)
