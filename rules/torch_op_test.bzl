"""torch_op_test: a PyTorch operator over sample inputs."""

load("//rules/private/torch:torch_op_test.bzl", _torch_op_test = "torch_op_test")

def torch_op_test(name, size = "small", **kwargs):
    """Tests a PyTorch operator over sample inputs: all of `torch.library.opcheck`, and how it composes.

    `samples` is a Python file that imports what registers the operator, and whose entry point returns arguments to call it
    with; torch_ops/README.md has the whole contract. Every check is reported by name, in the log and in the test's XML.

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
