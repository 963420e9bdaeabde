"""torch_op_test: tests a PyTorch operator on sample inputs."""

load("//rules/private/torch:torch_op_test.bzl", _torch_op_test = "torch_op_test")

def torch_op_test(name, size = "small", **kwargs):
    """Tests a PyTorch operator on sample inputs: all of `torch.library.opcheck`, and the composition with other features of PyTorch.

    `samples` is a Python file that imports the operator's library. The file's entry point returns arguments for calls of the
    operator; torch_ops/README.md has the whole contract. The log and the test's XML report each check by name.

    Args:
      name: name of the test.
      size: size of the test, which sets its timeout.
      **kwargs: op, samples, entry_point, deps, data, gradcheck, vmap, compile, backend, export and the common attributes.
    """
    _torch_op_test(
        name = name,
        size = size,
        **kwargs
    )
