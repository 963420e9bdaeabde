"""Environments with other versions of ExecuTorch than the default one, as repositories, from their locks."""

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:python_repository.bzl", "python_repository")

# buildifier: disable=bzl-visibility
load("//rules/private/repositories:versions.bzl", "DEFAULT_EXECUTORCH", "VERSIONS")

def version_repositories():
    """Declares `executorch_1_4_python`, and one repository for each further lock of the table of versions."""
    for minor, row in VERSIONS.items():
        if row["lock"] and minor != DEFAULT_EXECUTORCH:
            python_repository(
                name = "executorch_{}_python".format(minor.replace(".", "_")),
                tag = "python",
                has_runtime = True,
                packages = ["absl_py", "executorch", "torch"],
                precompile = ["torch", "executorch.exir", "executorch.extension.flat_tensor.serialize.serialize"],
                requirements = Label("//requirements:" + row["lock"].replace("export", "examples")),
            )
