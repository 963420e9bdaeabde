"""torch_aoti_test: compares a package's outputs with the outputs of eager PyTorch."""

load("//rules/private/torch:torch_aoti_binary.bzl", _torch_aoti_test = "torch_aoti_test")

def torch_aoti_test(name, size = "small", **kwargs):
    """Tests that a package's outputs equal those of eager PyTorch for all samples, within [tolerances](runner.md#tolerances).

    Args:
      name: name of the test.
      size: size of the test, which sets its timeout.
      **kwargs: package, deps, data, linkopts, atol, rtol, min_snr and the common attributes.
    """
    _torch_aoti_test(
        name = name,
        size = size,
        **kwargs
    )
