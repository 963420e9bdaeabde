"""The repositories with which benchmarks compare: packages of Python from a lock file, and one of npm."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")
load("//third_party:npm_packages.bzl", "install_npm_packages")

NO_ONNXRUNTIME_WEB_ERR = """could not install onnxruntime-web from npm: {found}.

Likely cause: npm is not installed, or reaches no registry.
Fix: install npm (Debian: apt-get install npm); //tools/bench:web_bench is the only program that needs the package."""

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
    """Declares `bench_python`, which is empty if pip cannot install the packages, and `onnxruntime_web`."""
    python_repository(
        name = "bench_python",
        is_optional = True,
        requirements = Label("//requirements:bench.txt"),
    )
    onnxruntime_web_repository(name = "onnxruntime_web")
