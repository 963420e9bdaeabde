"""executorch_program_test: compares a program's outputs with PyTorch's outputs."""

load("//rules/private/actions:common_attributes.bzl", "on_request")
load(
    "//rules/private/executorch:executorch_binary.bzl",
    "executorch_numbers",
    _executorch_program_test = "executorch_program_test",
)

# The attributes that the test shares with its comparison node by node.
_OF_NUMBERS = [
    "compatible_with",
    "data",
    "deps",
    "linkopts",
    "program",
    "tags",
    "target_compatible_with",
    "visibility",
    "weights",
]

def executorch_program_test(name, size = "small", **kwargs):
    """Tests that a program's outputs equal PyTorch's for all samples of all methods, within [tolerances](runner.md#tolerances).

    The samples and PyTorch's eager outputs come from the `executorch_program`. If a test fails, `bazel run :<name>.numbers` shows
    [where the numbers go wrong](numbers.md). Bazel builds `<name>.numbers` only on request.

    Args:
      name: name of the test.
      size: size of the test, which sets its timeout.
      **kwargs: program, weights, methods, deps, data, linkopts, atol, rtol, min_snr, env and the common attributes.
    """
    _executorch_program_test(
        name = name,
        size = size,
        **kwargs
    )
    executorch_numbers(
        name = name + ".numbers",
        testonly = True,
        **on_request({
            attribute: value
            for attribute, value in kwargs.items()
            if attribute in _OF_NUMBERS
        })
    )
