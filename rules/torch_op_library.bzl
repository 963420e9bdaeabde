"""torch_op_library: operators for PyTorch in C++."""

load("//rules/private/torch:loader_module.bzl", "loader_library", "loader_module")
load("//rules/private/torch:torch_op_library.bzl", _torch_op_library = "torch_op_library")

_CUDA_FOUND = Label("//rules:cuda")

def torch_op_library(
        name,
        srcs,
        visibility = None,
        testonly = None,
        tags = [],
        compatible_with = None,
        target_compatible_with = None,
        **kwargs):
    """A shared library with operators for PyTorch, as `<name>`, and a py_library that loads it, as `<name>_py`.

    The py_library has one module, `<package>.<name>`, with `_` for what Python has in no name. To import the module loads
    the library:
    `import examples.torch_matmul.my_ops`.

    A library with `PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)`, or a function `PyInit_<name>`, is a Python extension module, and
    importing the module gives its functions, too: with name = "_C", `from . import _C`. TORCH_EXTENSION_NAME is the module's
    name in every library. A namespace may be a macro: the build takes the namespaces from the library that it has loaded.

    A library with sources in CUDA (.cu) is incompatible with a machine that has no CUDA toolkit; `bazel test //...` skips
    such a library there.

    Loading the library is tried in the build. Whatever would fail or abort a process fails the build. The output group
    `operators` is a JSON file with the library's operators and their schemas.

    Args:
      name: name of the library, whose file is lib<name>.so, and of the module.
      srcs: sources, .cpp and .cu.
      visibility: visibility of all targets.
      testonly: whether only tests may use the targets.
      tags: tags of all targets.
      compatible_with: environments of all targets.
      target_compatible_with: constraints of all targets.
      **kwargs: hdrs, deps, api, torch_target_version, namespace, copts, cuda_copts, linkopts, local_defines and the common
        attributes.
    """
    if type(srcs) == "list" and any([str(source).endswith(".cu") for source in srcs]):
        target_compatible_with = (target_compatible_with or []) + [_CUDA_FOUND]
    common = dict(
        visibility = visibility,
        testonly = testonly,
        tags = tags,
        compatible_with = compatible_with,
        target_compatible_with = target_compatible_with,
    )
    _torch_op_library(
        name = name,
        srcs = srcs,
        module = loader_module(name),
        **(kwargs | common)
    )
    loader_library(
        name = name,
        **common
    )
