"""torch_aoti_package: a PyTorch model compiled ahead of time by AOTInductor."""

load("//rules/private/torch:torch_aoti_package.bzl", _torch_aoti_package = "torch_aoti_package")

torch_aoti_package = _torch_aoti_package
