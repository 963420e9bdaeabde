"""Providers for your own rules."""

load("//rules/private/providers:et_backend_info.bzl", _EtBackendInfo = "EtBackendInfo")
load("//rules/private/providers:et_generated_lib_info.bzl", _EtGeneratedLibInfo = "EtGeneratedLibInfo")
load("//rules/private/providers:et_kernel_info.bzl", _EtKernelInfo = "EtKernelInfo")
load("//rules/private/providers:et_operator_info.bzl", _EtOperatorInfo = "EtOperatorInfo")
load("//rules/private/providers:et_program_info.bzl", _EtProgramInfo = "EtProgramInfo")
load("//rules/private/providers:torch_aoti_package_info.bzl", _TorchAotiPackageInfo = "TorchAotiPackageInfo")
load("//rules/private/providers:torch_op_info.bzl", _TorchOpInfo = "TorchOpInfo")

EtBackendInfo = _EtBackendInfo
EtGeneratedLibInfo = _EtGeneratedLibInfo
EtKernelInfo = _EtKernelInfo
EtOperatorInfo = _EtOperatorInfo
EtProgramInfo = _EtProgramInfo
TorchAotiPackageInfo = _TorchAotiPackageInfo
TorchOpInfo = _TorchOpInfo
