"""torch_op_library: operators for PyTorch in C++."""

load("//rules/private/actions:common_attributes.bzl", "common_attributes")
load("//rules/private/torch:loader_module.bzl", "loader_library", "loader_module")
load("//rules/private/torch:torch_op_library.bzl", _torch_op_library = "torch_op_library")

_CUDA_FOUND = Label("//rules:cuda")

def torch_op_library(name, srcs, **kwargs):
    """A shared library with operators for PyTorch, as `<name>`, and a py_library that loads it, as `<name>_py`.

    The py_library has one module, `<package>.<name>`. In the module's name, `_` replaces characters that are not allowed in Python
    names. An import of the module loads the library: `import examples.torch_matmul.my_ops`.

    A library with `PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)`, or with a function `PyInit_<name>`, is also a Python extension module.
    The imported module then has the extension's functions: with name = "_C", `from . import _C`. In each library,
    TORCH_EXTENSION_NAME is the module's name. A namespace may be a macro, since the build reads the namespaces from the loaded
    library.

    A library with sources in CUDA (.cu) is incompatible with a machine without a CUDA toolkit. `bazel test //...` skips the
    library on such a machine.

    The build loads the library. If loading fails or would abort a process, the build fails. The output group `operators` is a
    JSON file with the library's operators and their schemas.

    Args:
      name: name of the module, and of the library with the file lib<name>.so.
      srcs: sources, .cpp and .cu.
      **kwargs: hdrs, deps, api, torch_target_version, namespace, copts, cuda_copts, linkopts, local_defines and the common
        attributes.
    """
    if type(srcs) == "list" and any([str(source).endswith(".cu") for source in srcs]):
        kwargs["target_compatible_with"] = (kwargs.get("target_compatible_with") or []) + [_CUDA_FOUND]
    _torch_op_library(
        name = name,
        srcs = srcs,
        module = loader_module(name),
        **kwargs
    )
    loader_library(
        name = name,
        **common_attributes(kwargs)
    )
