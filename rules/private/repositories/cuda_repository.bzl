"""The machine's CUDA toolkit, if it has one."""

visibility(["//rules/..."])

_ENVIRON = ["CUDA_HOME", "CUDA_PATH"]

def find_toolkit(rctx):
    """The first toolkit that has both nvcc and the CUDA runtime; an nvcc on the PATH may be a script beside neither.

    Args:
      rctx: the repository context.
    Returns:
      (str, str): the directory that holds bin/nvcc, and the runtime, a shared library, which PyTorch links with, too; or
      (None, None).
    """
    nvcc = rctx.which("nvcc")
    places = [rctx.os.environ.get(variable) for variable in _ENVIRON]
    places += [str(nvcc.realpath.dirname.dirname) if nvcc else None, "/usr/local/cuda"]
    for place in places:
        runtime = _runtime(rctx, place) if place and rctx.path(place + "/bin/nvcc").exists else None
        if runtime:
            return place, runtime
    return None, None

def _runtime(rctx, toolkit):
    found = [
        str(entry)
        for lib in [rctx.path(toolkit + "/lib64"), rctx.path(toolkit + "/lib")]
        if lib.exists
        for entry in lib.readdir()
        if entry.basename.startswith("libcudart.so")
    ]
    return sorted(found)[0] if found else None

def _cuda_repository_impl(rctx):
    toolkit, runtime = find_toolkit(rctx)
    if runtime:
        rctx.symlink(runtime, "lib/" + runtime.rpartition("/")[2])
    rctx.file("BUILD.bazel", """\
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_executorch//rules/private/toolchains:cuda_toolkit.bzl", "cuda_toolkit")

package(default_visibility = ["//visibility:public"])

# What needs the toolkit is compatible with this.
alias(
    name = "found",
    actual = "{compatible}",
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
""".format(compatible = "@platforms//os:linux" if runtime else "@platforms//:incompatible", home = toolkit or ""))

cuda_repository = repository_rule(
    doc = """The CUDA toolkit of the machine: in $CUDA_HOME or $CUDA_PATH, the one of the nvcc on the PATH, or /usr/local/cuda.

Without one, `@<name>//:found` is a constraint that no platform has.""",
    implementation = _cuda_repository_impl,
    environ = _ENVIRON + ["PATH"],
    configure = True,
    local = True,
)
