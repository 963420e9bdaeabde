"""executorch_generated_lib: registers exactly the selected operators."""

load(
    "//rules/private:executorch_generated_lib.bzl",
    "executorch_generated_headers",
    _executorch_generated_lib = "executorch_generated_lib",
)

def executorch_generated_lib(name, visibility = None, testonly = None, tags = [], **kwargs):
    """A C++ library that registers the selected operators, as `<name>`, and its headers, as `<name>_headers`.

    Args:
      name: name of the library.
      visibility: visibility of both targets.
      testonly: whether only tests may use both.
      tags: tags of both targets.
      **kwargs: functions_yaml_target, custom_ops_yaml_target, deps, kernel_deps, dtype_selective_build and the common attributes.
    """
    _executorch_generated_lib(
        name = name,
        visibility = visibility,
        testonly = testonly,
        tags = tags,
        **kwargs
    )
    executorch_generated_headers(
        name = name + "_headers",
        library = ":" + name,
        visibility = visibility,
        testonly = testonly,
        tags = tags,
    )
