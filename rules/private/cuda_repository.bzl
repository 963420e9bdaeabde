"""The machine's CUDA toolkit, if it has one."""

visibility(["//rules/..."])

_ENVIRON = ["CUDA_HOME", "CUDA_PATH"]

def _toolkit(rctx):
    """The directory that holds bin/nvcc, or None."""
    nvcc = rctx.which("nvcc")
    places = [rctx.os.environ.get(variable) for variable in _ENVIRON]
    places += [str(nvcc.realpath.dirname.dirname) if nvcc else None, "/usr/local/cuda"]
    for place in places:
        if place and rctx.path(place + "/bin/nvcc").exists:
            return place
    return None

def _runtime(rctx, toolkit):
    """The CUDA runtime to link with, as PyTorch does: a shared library."""
    found = [
        entry
        for lib in ["lib64", "lib"]
        if rctx.path(toolkit).get_child(lib).exists
        for entry in rctx.path(toolkit).get_child(lib).readdir()
        if entry.basename.startswith("libcudart.so")
    ]
    return sorted([str(entry) for entry in found])[0] if found else None

def _cuda_repository_impl(rctx):
    toolkit = _toolkit(rctx)
    runtime = _runtime(rctx, toolkit) if toolkit else None
    if runtime:
        rctx.symlink(runtime, "lib/" + runtime.rpartition("/")[2])
    rctx.file("BUILD.bazel", """\
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_executorch//rules/private:cuda_toolkit.bzl", "cuda_toolkit")

package(default_visibility = ["//visibility:public"])

# What needs the toolkit is compatible with this.
alias(
    name = "found",
    actual = "@platforms//{compatible}",
)

cc_library(
    name = "runtime",
    srcs = glob(["lib/*"], allow_empty = True),
)

cuda_toolkit(
    name = "toolkit",
    home = "{home}",
    runtime = ":runtime",
)
""".format(compatible = "os:linux" if runtime else ":incompatible", home = toolkit if runtime else ""))

cuda_repository = repository_rule(
    doc = """The CUDA toolkit of the machine: in $CUDA_HOME or $CUDA_PATH, the one of the nvcc on the PATH, or /usr/local/cuda.

Without one, `@<name>//:found` is a constraint that no platform has.""",
    implementation = _cuda_repository_impl,
    environ = _ENVIRON + ["PATH"],
    configure = True,
    local = True,
)
