"""executorch_custom_ops_aot_lib: custom operators for PyTorch, with the kernels of programs."""

load("//rules/private/actions:common_attributes.bzl", "common_attributes")
load("//rules/private/executorch:executorch_custom_ops_aot_lib.bzl", _executorch_custom_ops_aot_lib = "executorch_custom_ops_aot_lib")
load("//rules/private/torch:loader_module.bzl", "loader_library", "loader_module")

def executorch_custom_ops_aot_lib(name, **kwargs):
    """A shared library that defines custom operators in PyTorch, as `<name>`, and a py_library that loads it, as `<name>_py`.

    The py_library has one module, `<package>.<name>`. In the module's name, `_` replaces characters that are not allowed in Python
    names. An import of the module loads the library. C++ links `<name>`, as in `deps` of a `torch_aoti_binary`.

    Args:
      name: name of the module, and of the library with the file lib<name>.so.
      **kwargs: custom_ops_yaml_target, kernel_deps, custom_ops_aten_kernel_deps, aten_mode, custom_ops_functional_variants,
        deps, copts and the common attributes.
    """
    _executorch_custom_ops_aot_lib(
        name = name,
        module = loader_module(name),
        **kwargs
    )
    loader_library(
        name = name,
        **common_attributes(kwargs)
    )
