"""torch_aoti_test: a package's outputs against eager PyTorch's."""

load("//rules/private/torch:torch_aoti_binary.bzl", _torch_aoti_test = "torch_aoti_test")

torch_aoti_test = _torch_aoti_test
