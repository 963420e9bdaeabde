"""executorch_compiled_program_test: compares a compiled program's outputs with PyTorch's outputs."""

load("//rules/private/executorch:executorch_compiled_program.bzl", _executorch_compiled_program_test = "executorch_compiled_program_test")

def executorch_compiled_program_test(name, size = "small", **kwargs):
    """Tests that a compiled program's outputs equal PyTorch's for all samples, within [tolerances](runner.md#tolerances).

    Args:
      name: name of the test.
      size: size of the test, which sets its timeout.
      **kwargs: program, deps, linkopts, run_under, scratch_bytes, atol, rtol, min_snr and the common attributes.
    """
    _executorch_compiled_program_test(
        name = name,
        size = size,
        **kwargs
    )
