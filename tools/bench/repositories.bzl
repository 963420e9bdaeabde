"""The repositories with which benchmarks compare: packages of Python from a lock file, and Highway."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")
load("//tools/debian:packages.bzl", "extract_debian_packages")
load("//tools/npm:packages.bzl", "install_npm_packages")

NO_ONNXRUNTIME_WEB_ERR = """could not install onnxruntime-web from npm: {found}.

Likely cause: npm is not installed, or reaches no registry.
Fix: install npm (Debian: apt-get install npm); //tools/bench:web_bench is the only program that needs the package."""

NO_HIGHWAY_ERR = """Highway could not be had: {found}.

Likely cause: this is no Debian or Ubuntu machine, or it reaches no package mirror.
Fix: none; //tools/bench:highway_bench is the only program that needs Highway."""

def _highway_repository_impl(rctx):
    extract_debian_packages(
        rctx,
        ["libhwy-dev"],
        NO_HIGHWAY_ERR,
        # The Debian after the one with GCC 12, since its Highway is three years newer.
        suite = "trixie",
        sha256 = {"libhwy-dev": "a39afec3be24628d4796e3fe6765a2a5cd9c1457bde356062580f99f58f5a14e"},
    )
    rctx.file("BUILD.bazel", """\
package(default_visibility = ["//visibility:public"])

exports_files(["usr/include/hwy/highway.h"])

filegroup(
    name = "headers",
    srcs = glob(["usr/include/hwy/**/*.h"]),
)
""")

highway_repository = repository_rule(
    doc = "The `:headers` of Highway, from Debian's package for x86-64.",
    implementation = _highway_repository_impl,
)

# What a page downloads that runs models on the processor.
_ONNXRUNTIME_WEB_FILES = [
    "ort-wasm-simd-threaded.mjs",
    "ort-wasm-simd-threaded.wasm",
    "ort.wasm.min.mjs",
]

def _onnxruntime_web_repository_impl(rctx):
    install_npm_packages(rctx, "//tools/bench/web", NO_ONNXRUNTIME_WEB_ERR)
    for file in _ONNXRUNTIME_WEB_FILES:
        rctx.symlink("node_modules/onnxruntime-web/dist/" + file, file)
    rctx.file("BUILD.bazel", """\
filegroup(
    name = "files",
    srcs = {},
    visibility = ["//visibility:public"],
)
""".format(_ONNXRUNTIME_WEB_FILES))

onnxruntime_web_repository = repository_rule(
    doc = "The `:files` of ONNX Runtime for browsers, from its npm package.",
    implementation = _onnxruntime_web_repository_impl,
)

def bench_repositories():
    """Declares `bench_python`, which is empty if pip cannot install the packages, `highway` and `onnxruntime_web`."""
    python_repository(
        name = "bench_python",
        is_optional = True,
        requirements = Label("//requirements:bench.txt"),
    )
    highway_repository(name = "highway")
    onnxruntime_web_repository(name = "onnxruntime_web")
