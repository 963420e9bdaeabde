"""torch_aoti_binary: runs a package of AOTInductor in C++, without Python."""

load("//rules/private/torch:torch_aoti_binary.bzl", _torch_aoti_binary = "torch_aoti_binary")

torch_aoti_binary = _torch_aoti_binary
