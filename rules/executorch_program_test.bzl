"""executorch_program_test: compares a program's outputs with PyTorch's outputs."""

load("//rules/private/executorch:executorch_binary.bzl", _executorch_program_test = "executorch_program_test")

def executorch_program_test(name, size = "small", **kwargs):
    """Tests that a program's outputs equal PyTorch's for all samples of all methods, within [tolerances](runner.md#tolerances).

    The samples and PyTorch's eager outputs come from the `executorch_program`.

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
