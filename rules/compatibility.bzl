"""The rules with further names of their parameters: those of ExecuTorch's BUCK files, and those of earlier versions.

Each rule has one name for each parameter. A macro of this file has the name of its rule, and takes the rule's attributes too.
"""

load("//rules/private/actions:common_attributes.bzl", "common_attributes")
load("//rules/private/executorch:invalid_target.bzl", "BUCK_ONLY_ERR", "TWO_NAMES_ERR", "invalid_target")
load(":et_operator_library.bzl", _et_operator_library = "et_operator_library")
load(":executorch_custom_ops_aot_lib.bzl", "executorch_custom_ops_aot_lib")
load(":executorch_generated_lib.bzl", _executorch_generated_lib = "executorch_generated_lib")
load(":executorch_model.bzl", _executorch_model = "executorch_model")

def _define(rule, name, attrs, old, with_old_names = True):
    """Defines a target, whose rule gets the values of old names under their new names.

    Args:
      rule: the rule, or a macro.
      name: str, the name of the target.
      attrs: dict[str, value], the attributes under their new names.
      old: dict[str, (str, value)], for each old name the new name and the value; None if the BUILD file does not give it.
      with_old_names: bool, whether errors of the rule name the given attributes.
    """
    old_names = {new: parameter for parameter, (new, value) in old.items() if value != None}
    for new, parameter in old_names.items():
        if new in attrs:
            invalid_target(
                name = name,
                error = TWO_NAMES_ERR.format(old = parameter, new = new),
                **common_attributes(attrs)
            )
            return
    if with_old_names and old_names:
        attrs = attrs | {"old_names": old_names}
    rule(name = name, **(attrs | {new: old[parameter][1] for new, parameter in old_names.items()}))

# buildifier: disable=unused-variable
def et_operator_library(name, include_all_ops = None, model = None, define_static_targets = None, **kwargs):
    """Selects operators from lists, models, YAMLs and other selections.

    Args:
      name: name of the selection.
      include_all_ops: `include_all_operators`. ExecuTorch's guides use this name.
      model: `models`, with one model.
      define_static_targets: no effect, as in ExecuTorch's macro: a selection is not a library.
      **kwargs: the attributes of the rule.
    """
    if type(model) == "select":
        # A list cannot have a select().
        native.alias(
            name = name + ".model",
            actual = model,
            **common_attributes(kwargs)
        )
        model = ":{}.model".format(name)
    _define(_et_operator_library, name, kwargs, {
        "include_all_ops": ("include_all_operators", include_all_ops),
        "model": ("models", [model] if model else None),
    })

# buildifier: disable=unused-variable
def executorch_generated_lib(
        name,
        compiler_flags = None,
        define_static_targets = False,
        expose_operator_symbols = None,
        use_default_aten_ops_lib = True,
        fbcode_deps = None,
        feature = None,
        platforms = None,
        xplat_deps = None,
        **kwargs):
    """A C++ library that registers the selected operators, as `<name>`, and its headers, as `<name>_headers`.

    Args:
      name: name of the library.
      compiler_flags: `copts`.
      define_static_targets: whether `<name>_static` is an alias of the library, which is always static.
      expose_operator_symbols: no effect: other targets can always link with the kernels of a dtype-selective build.
      use_default_aten_ops_lib: no effect if True. False is an error: an `executorch_torch_toolchain` names the library that runs
        ATen's operators.
      fbcode_deps: an error. Use `deps`, with a `select()` if the dependencies differ by platform.
      feature: an error. Use `tags`.
      platforms: an error. Use `target_compatible_with`.
      xplat_deps: an error. Use `deps`, with a `select()` if the dependencies differ by platform.
      **kwargs: the attributes of the rule.
    """
    for parameter, given, replacement in [
        ("fbcode_deps", fbcode_deps, "deps, with a select() where they differ by platform"),
        ("feature", feature, "tags"),
        ("platforms", platforms, "target_compatible_with"),
        ("use_default_aten_ops_lib", not use_default_aten_ops_lib, "an executorch_torch_toolchain with the ATen libraries"),
        ("xplat_deps", xplat_deps, "deps, with a select() where they differ by platform"),
    ]:
        if given:
            invalid_target(
                name = name,
                error = BUCK_ONLY_ERR.format(parameter = parameter, replacement = replacement),
                **common_attributes(kwargs)
            )
            return
    _define(
        _executorch_generated_lib,
        name,
        kwargs,
        {"compiler_flags": ("copts", compiler_flags)},
        with_old_names = False,
    )
    if define_static_targets:
        native.alias(
            name = name + "_static",
            actual = ":" + name,
            **common_attributes(kwargs)
        )

def executorch_model(name, kernels = None, custom_ops_yaml = None, functions_yaml = None, **kwargs):
    """All targets of a model, from its Python file to a runner.

    Args:
      name: name of the runner.
      kernels: `kernel_deps`.
      custom_ops_yaml: `custom_ops_yaml_target`.
      functions_yaml: `functions_yaml_target`.
      **kwargs: the parameters of the macro.
    """
    _define(_executorch_model, name, kwargs, {
        "custom_ops_yaml": ("custom_ops_yaml_target", custom_ops_yaml),
        "functions_yaml": ("functions_yaml_target", functions_yaml),
        "kernels": ("kernel_deps", kernels),
    })

def exir_custom_ops_aot_lib(
        name,
        yaml_target = None,
        kernels = None,
        aten_kernels = None,
        functional_variants = None,
        compiler_flags = None,
        **kwargs):
    """ExecuTorch's name for `executorch_custom_ops_aot_lib`.

    Args:
      name: name of the library.
      yaml_target: `custom_ops_yaml_target`.
      kernels: `kernel_deps`.
      aten_kernels: `custom_ops_aten_kernel_deps`.
      functional_variants: `custom_ops_functional_variants`.
      compiler_flags: `copts`.
      **kwargs: the attributes of the rule.
    """
    _define(executorch_custom_ops_aot_lib, name, kwargs, {
        "aten_kernels": ("custom_ops_aten_kernel_deps", aten_kernels),
        "compiler_flags": ("copts", compiler_flags),
        "functional_variants": ("custom_ops_functional_variants", functional_variants),
        "kernels": ("kernel_deps", kernels),
        "yaml_target": ("custom_ops_yaml_target", yaml_target),
    })
