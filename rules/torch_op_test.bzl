"""torch_op_test: a PyTorch operator over sample inputs."""

load("//rules/private/torch:torch_op_test.bzl", _torch_op_test = "torch_op_test")

torch_op_test = _torch_op_test
