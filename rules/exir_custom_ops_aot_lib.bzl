"""exir_custom_ops_aot_lib: custom operators for PyTorch, with the kernels of programs."""

load("//rules/private/executorch:exir_custom_ops_aot_lib.bzl", _exir_custom_ops_aot_lib = "exir_custom_ops_aot_lib")
load("//rules/private/torch:loader_module.bzl", "loader_library", "loader_module")

def exir_custom_ops_aot_lib(
        name,
        visibility = None,
        testonly = None,
        tags = [],
        compatible_with = None,
        target_compatible_with = None,
        **kwargs):
    """A shared library that defines custom operators in PyTorch, as `<name>`, and a py_library that loads it, as `<name>_py`.

    The py_library has one module, `<package>.<name>`. In the module's name, `_` replaces characters that are not allowed in Python
    names. An import of the module loads the library. C++ links `<name>`, as in `deps` of a `torch_aoti_binary`.

    Args:
      name: name of the module, and of the library with the file lib<name>.so.
      visibility: visibility of all targets.
      testonly: whether only tests may use the targets.
      tags: tags of all targets.
      compatible_with: environments of all targets.
      target_compatible_with: constraints of all targets.
      **kwargs: yaml_target, kernels, aten_kernels, aten_mode, functional_variants, deps, compiler_flags and the common
        attributes.
    """
    common = dict(
        visibility = visibility,
        testonly = testonly,
        tags = tags,
        compatible_with = compatible_with,
        target_compatible_with = target_compatible_with,
    )
    _exir_custom_ops_aot_lib(
        name = name,
        module = loader_module(name),
        **(kwargs | common)
    )
    loader_library(
        name = name,
        **common
    )
