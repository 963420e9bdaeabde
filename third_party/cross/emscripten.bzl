"""Repository of Emscripten, a compiler for WebAssembly, from Debian's packages."""

load("//third_party:debian_packages.bzl", "extract_debian_packages")

NO_EMSCRIPTEN_ERR = """could not install Emscripten: {found}.

Likely cause: this machine is not Debian 12, has no node, or reaches no package mirror.
Fix: install node, register a C++ toolchain of your own for WebAssembly, or skip the tests in node and in a browser:
bazel test -- //... -//tests/compiled:wasm32_test -//examples/web/..."""

_EMSCRIPTEN = "usr/share/emscripten"
_LIBRARIES = _EMSCRIPTEN + "/cache/sysroot/lib/wasm32-emscripten"

# Debian compiled the libraries for each kind of link. These kinds take 600 MB, and the toolchain has no flags for them.
_LEFT_OUT = [
    _EMSCRIPTEN + "/tests",
    _LIBRARIES + "/lto",
    _LIBRARIES + "/lto-pic",
    _LIBRARIES + "/pic",
]

# Relative to the place of this file, so that the dependencies of sources have paths relative to the execution root.
_CONFIG = """\
import os

_ROOT = os.path.dirname(os.environ["EM_CONFIG"])
BINARYEN_ROOT = _ROOT + "/usr"
CACHE = _ROOT + "/{emscripten}/cache"
FROZEN_CACHE = True
LLVM_ADD_VERSION = ""
LLVM_ROOT = _ROOT + "/{llvm}/bin"
NODE_JS = os.path.abspath(_ROOT + "/bin/node")  # Runs in another folder.
"""

# Debian's packages of shared libraries are here only if the machine lacks them.
_ENVIRONMENT = """\
#!/bin/sh
root=${0%/bin/*}
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu
"""
_EMCC = _ENVIRONMENT + """\
export EM_CONFIG=$root/emscripten.config PATH=$root/usr/bin:$PATH
exec python3 -B "$root/usr/share/emscripten/emcc.py" "$@"
"""
_LLVM_TOOL = _ENVIRONMENT + """\
exec "$root"/usr/lib/llvm-*/bin/llvm-${0##*/} "$@"
"""

def _emscripten_repository_impl(rctx):
    # Debian's node reads files of /usr/share/nodejs, so that it must be installed.
    node = rctx.which("node")
    if not node:
        fail(NO_EMSCRIPTEN_ERR.format(found = "there is no node"))
    extract_debian_packages(
        rctx,
        ["emscripten"],
        NO_EMSCRIPTEN_ERR,
        with_dependencies = True,
        # The compiler finds its files in its own folder only.
        taken_anyway = [
            "Package: clang",
            "Package: lld",
            "Package: llvm",
            "binaryen",
            "emscripten",
            "libclang-common",
            "node-acorn",
            "node-xtend",
        ],
    )
    for path in _LEFT_OUT:
        rctx.delete(path)
    if not rctx.path(_LIBRARIES + "/libc.a").exists:
        fail(NO_EMSCRIPTEN_ERR.format(found = "the package emscripten has no compiled C library"))
    llvm = [path for path in rctx.path("usr/lib").readdir() if path.basename.startswith("llvm-")][0]
    rctx.file("emscripten.config", _CONFIG.format(emscripten = _EMSCRIPTEN, llvm = "usr/lib/" + llvm.basename))
    rctx.file("bin/emcc", _EMCC, executable = True)
    rctx.symlink(node, "bin/node")
    rctx.execute(["mv", "usr/share/nodejs", _EMSCRIPTEN + "/node_modules"])
    for tool in ["ar", "nm", "objcopy", "objdump", "strip"]:
        rctx.file("bin/" + tool, _LLVM_TOOL, executable = True)
    rctx.symlink(rctx.attr._build_file, "BUILD.bazel")

emscripten_repository = repository_rule(
    doc = "Emscripten, which runs on x86-64, and the node of the machine as `:bin/node`, which runs programs.",
    implementation = _emscripten_repository_impl,
    attrs = {
        "_build_file": attr.label(
            default = "//third_party/cross:emscripten.BUILD.bazel",
            doc = "The repository's BUILD file, which declares the toolchain.",
        ),
    },
)
