"""PyTorch's C++ headers and libraries out of an environment that has torch."""

visibility(["//rules/...", "//tests/..."])

NO_TORCH_ERR = """rules_executorch: @{python}: expected torch/{part}, for C++; found none.

Likely cause: executorch.python(deps = ...) names Python targets of your own. Such targets do not give the folder of torch.
Fix: give executorch.python(site_packages = ...) or requirements in place of deps, or register an
executorch_torch_toolchain of your own."""

def _version(rctx, header):
    """The version as torch/headeronly/version.h spells it, in three macros."""
    parts = {}
    for line in rctx.read(header).split("\n"):
        for part in ["MAJOR", "MINOR", "PATCH"]:
            if line.startswith("#define TORCH_VERSION_{} ".format(part)):
                parts[part] = line.split(" ")[2]
    return "{MAJOR}.{MINOR}.{PATCH}".format(**parts)

def _torch_repository_impl(rctx):
    environment = rctx.path(rctx.attr.python).dirname.get_child("site-packages")
    torch = environment.get_child("torch")
    for part in ["include", "lib"]:
        if not torch.get_child(part).exists:
            fail(NO_TORCH_ERR.format(python = rctx.attr.python.repo_name, part = part))
        rctx.symlink(torch.get_child(part), part)

    # The wheel's own CMake package says which ABI of gcc's library it was built with.
    cmake = torch.get_child("share").get_child("cmake").get_child("Torch").get_child("TorchConfig.cmake")
    old_abi = cmake.exists and "_GLIBCXX_USE_CXX11_ABI=0" in rctx.read(cmake)
    rctx.file("torch.bzl", """GLIBCXX_USE_CXX11_ABI = {}\nVERSION = "{}"\n""".format(
        0 if old_abi else 1,
        _version(rctx, torch.get_child("include").get_child("torch").get_child("headeronly").get_child("version.h")),
    ))
    rctx.template("BUILD.bazel", rctx.attr._build_file)

torch_repository = repository_rule(
    doc = "PyTorch's C++ headers and libraries, out of the environment that a python_repository holds.",
    implementation = _torch_repository_impl,
    attrs = {
        "python": attr.label(
            doc = "The BUILD file of the python_repository.",
            mandatory = True,
        ),
        "_build_file": attr.label(default = "//rules/private/repositories:BUILD.torch.bazel"),
    },
)
