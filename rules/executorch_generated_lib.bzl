"""executorch_generated_lib: registers exactly the selected operators."""

load(
    "//rules/private:executorch_generated_lib.bzl",
    "executorch_generated_headers",
    _executorch_generated_lib = "executorch_generated_lib",
)

def executorch_generated_lib(
        name,
        define_static_targets = False,
        visibility = None,
        testonly = None,
        tags = [],
        compatible_with = None,
        target_compatible_with = None,
        **kwargs):
    """A C++ library that registers the selected operators, as `<name>`, and its headers, as `<name>_headers`.

    Args:
      name: name of the library.
      define_static_targets: whether `<name>_static` is another name of the library, which is static anyway.
      visibility: visibility of all targets.
      testonly: whether only tests may use them.
      tags: tags of all targets.
      compatible_with: environments of all targets.
      target_compatible_with: constraints of all targets.
      **kwargs: functions_yaml_target, custom_ops_yaml_target, fallback_yaml_target, deps, kernel_deps,
        manual_registration, support_exceptions, dtype_selective_build and the common attributes.
    """
    common = dict(
        visibility = visibility,
        testonly = testonly,
        tags = tags,
        compatible_with = compatible_with,
        target_compatible_with = target_compatible_with,
    )
    _executorch_generated_lib(
        name = name,
        **(kwargs | common)
    )
    executorch_generated_headers(
        name = name + "_headers",
        library = ":" + name,
        **common
    )
    if define_static_targets:
        native.alias(
            name = name + "_static",
            actual = ":" + name,
            **common
        )
