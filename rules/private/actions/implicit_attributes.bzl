"""Attributes that no user of a rule sets: targets on which a rule depends."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

visibility(["//rules/..."])

def build_setting(flag):
    """Returns an attribute with a flag of the build."""
    return attr.label(default = flag, providers = [BuildSettingInfo])

def cc_dependency(library):
    """Returns an attribute with a C++ library. The library may be a function of other attributes."""
    return attr.label(default = library, providers = [CcInfo])

def source_file(file):
    """Returns an attribute with a file."""
    return attr.label(default = file, allow_single_file = True)

def tool_dependency(program, cfg = "exec"):
    """Returns an attribute with a program, which runs in actions, or with cfg = "target" with the target."""
    return attr.label(default = program, executable = True, cfg = cfg)
