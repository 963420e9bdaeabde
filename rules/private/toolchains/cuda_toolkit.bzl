"""The CUDA toolkit of the machine as a target."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

NO_TOOLKIT_ERR = """{label}: attribute srcs: expected a CUDA toolkit on this machine, for {sources}; found none.

Likely cause: srcs is a select(). Bazel skips a target with CUDA sources on such a machine, but torch_op_library does not
see the files of a select().
Fix: set target_compatible_with = ["@rules_executorch//rules:cuda"] where srcs has CUDA sources; or install the toolkit and
name its folder with --repo_env=CUDA_HOME=...
See: docs/errors.md#no-cuda-toolkit"""

CudaToolkitInfo = provider(
    doc = "A CUDA toolkit that is installed on the machine.",
    fields = {
        "home": "str: the directory that holds bin/nvcc; empty if there is none.",
        "runtime": "CcInfo: libcudart.",
    },
)

def _cuda_toolkit_impl(ctx):
    return [CudaToolkitInfo(home = ctx.attr.home, runtime = ctx.attr.runtime[CcInfo])]

cuda_toolkit = rule(
    doc = "The CUDA toolkit of the machine.",
    implementation = _cuda_toolkit_impl,
    attrs = {
        "home": attr.string(doc = "The directory that holds bin/nvcc."),
        "runtime": attr.label(
            doc = "libcudart.",
            mandatory = True,
            providers = [CcInfo],
        ),
    },
    provides = [CudaToolkitInfo],
)

def toolkit_for(label, sources, toolkit, fail = fail):
    """Returns the toolkit if sources need it.

    Args:
      label: Label of the library.
      sources: list[File], the sources in CUDA.
      toolkit: CudaToolkitInfo.
      fail: the function to call with an error.
    Returns:
      CudaToolkitInfo, or None without sources or after a failure.
    """
    if sources and not toolkit.home:
        return fail(NO_TOOLKIT_ERR.format(label = label, sources = ", ".join([source.basename for source in sources])))
    return toolkit if sources else None
