"""The ExecuTorch runtime out of the official wheel."""

load(":host_python.bzl", "PYTHON_ENVIRON", "find_python", "pip_download_command")

visibility(["//rules/...", "//tests/..."])

DOWNLOAD_ERR = """rules_executorch: could not download the executorch wheel of {requirements}:
{stderr}
Likely cause: no network, a package index without this wheel, or a wheel whose hash {requirements} does not list.
Fix: check that `pip download --no-deps --require-hashes -r {requirements}` works on this machine; or give
executorch.runtime(wheel = ...) or executorch.runtime(site_packages = ...)."""

NO_WHEEL_CONTENT_ERR = """rules_executorch: {where}: expected a file executorch/lib/libexecutorch.so or .dylib; found none.

Likely cause: a minimal wheel, or a version before ExecuTorch 1.5, the first with the prebuilt C++ runtime.
Fix: use executorch 1.5 or newer for executorch.runtime. executorch.python may have version 1.4, whose
programs run on the runtime of 1.5."""

OTHER_VERSION_ERR = """rules_executorch: executorch wheel for {platform}: expected version {expected}, that of this machine's wheel; got {found}.

Likely cause: executorch.runtime(wheel = ...) or executorch.runtime(site_packages = ...) gives this machine's wheel, and
{requirements} gives the wheel for {platform}.
Fix: give executorch.runtime(requirements = ...), a lock with the hashes of both wheels, or register an
executorch_runtime_toolchain of your own for {platform}."""

# The platforms that a wheel can be had for on machines of another kind, with pip's names.
_PLATFORMS = {"linux_arm64": "manylinux_2_28_aarch64"}

# What a runtime needs of the wheel; the rest (exporter, backends) is of no use without torch.
_NEEDED = ["data", "devtools", "include", "kernels", "lib", "schema"]

# The arguments are a wheel, and the needed folders. Bazel's own extraction has no choice of files, and takes ten times as long.
_UNZIP = """
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall(members=[name for name in wheel.namelist() if name.split("/")[1] in sys.argv[2:] or ".dist-info/" in name])
"""

def _version(directory):
    """The version of the executorch distribution whose metadata lies in a directory; empty if there is none."""
    for entry in directory.readdir():
        if entry.basename.startswith("executorch-") and entry.basename.endswith(".dist-info"):
            return entry.basename.removeprefix("executorch-").removesuffix(".dist-info")
    return ""

def _runtime_repository_impl(rctx):
    if rctx.attr.site_packages:
        package = rctx.path(rctx.attr.site_packages + "/executorch")
        where = str(package)
        if not package.exists:
            fail(NO_WHEEL_CONTENT_ERR.format(where = rctx.attr.site_packages))
        for part in _NEEDED:
            if package.get_child(part).exists:
                rctx.symlink(package.get_child(part), "executorch/" + part)
        for entry in rctx.path(rctx.attr.site_packages).readdir():
            if entry.basename.startswith("executorch-") and entry.basename.endswith(".dist-info"):
                rctx.symlink(entry, entry.basename)
    elif rctx.attr.wheel:
        # No Python is needed, since a workspace may have one of its own.
        wheel = rctx.path(rctx.attr.wheel)
        where = wheel.basename
        rctx.symlink(wheel, "wheel.zip")  # extract() tells the format by the name.
        rctx.extract("wheel.zip")
        for child in rctx.path("executorch").readdir():
            if child.basename not in _NEEDED:
                rctx.delete(child)
        rctx.delete("wheel.zip")
    else:
        where = _download(rctx)
    endings = [ending for ending in [".so", ".dylib"] if rctx.path("executorch/lib/libexecutorch" + ending).exists]
    if not endings:
        fail(NO_WHEEL_CONTENT_ERR.format(where = where))
    metadata = rctx.path(rctx.attr.site_packages) if rctx.attr.site_packages else rctx.path(".")
    version = _version(metadata)
    if rctx.attr.expected_version:
        expected = rctx.read(rctx.attr.expected_version)
        if version != expected:
            fail(OTHER_VERSION_ERR.format(
                expected = expected,
                found = version,
                platform = rctx.attr.platform,
                requirements = rctx.attr.requirements,
            ))
    rctx.file("VERSION", version)
    rctx.execute(["chmod", "+x", "executorch/data/bin/flatc"])

    # The BUILD file is written with the names of libraries on Linux. On macOS, these have another ending.
    rctx.template("BUILD.bazel", rctx.attr._build_file, substitutions = {".so\"": endings[0] + "\""})

def executorch_lines(lock):
    """The lines of a lock that pin executorch, or the whole lock if there are none.

    Args:
      lock: str, pip requirements, such as those of executorch.python.
    Returns:
      str: pip requirements.
    """
    lines = []
    is_continued = False
    for line in lock.split("\n"):
        if is_continued or line.startswith("executorch=="):
            lines.append(line + "\n")
            is_continued = line.endswith("\\")
    return "".join(lines) or lock

def _download(rctx):
    """Downloads the wheel, unpacks the needed folders, and returns the name of the wheel."""
    python = find_python(rctx)
    requirements = rctx.path(rctx.attr.requirements)
    rctx.file("requirements.txt", executorch_lines(rctx.read(requirements)))
    platform = ["--platform=" + _PLATFORMS[rctx.attr.platform]] if rctx.attr.platform else []
    rctx.report_progress("Downloading the executorch wheel")
    result = rctx.execute(
        pip_download_command(rctx, python, "requirements.txt", "wheel") + platform,
        timeout = 1800,
    )
    if result.return_code != 0:
        fail(DOWNLOAD_ERR.format(stderr = result.stderr, requirements = requirements))
    wheel = rctx.path("wheel").readdir()[0]
    result = rctx.execute([python.path, "-I", "-c", _UNZIP, wheel] + _NEEDED)
    if result.return_code != 0:
        fail(DOWNLOAD_ERR.format(stderr = result.stderr, requirements = requirements))
    rctx.delete("wheel")
    return wheel.basename

runtime_repository = repository_rule(
    doc = """The runtime of the official `executorch` wheel: C++ headers, libexecutorch.so, flatc, schemas and YAMLs.

The wheel comes from pip with a hash lock (`requirements`), from a label (`wheel`), or out of an existing
environment (`site_packages`). No dependency of the wheel is installed. With `platform`, the wheel is another platform's.""",
    implementation = _runtime_repository_impl,
    attrs = {
        "expected_version": attr.label(doc = "A file with the version that the wheel has to have. Default: any version."),
        "platform": attr.string(
            doc = "The platform that the wheel is for. Default: this machine's.",
            values = [""] + _PLATFORMS.keys(),
        ),
        "requirements": attr.label(doc = "A pip requirements file that pins `executorch` with hashes. Other packages do not count."),
        "site_packages": attr.string(doc = "Absolute path of an existing site-packages directory that holds `executorch`."),
        "wheel": attr.label(allow_single_file = [".whl"], doc = "An executorch wheel, e.g. out of a pip.parse hub."),
        "_build_file": attr.label(default = "//rules/private/repositories:BUILD.runtime.bazel"),
    },
    environ = PYTHON_ENVIRON,
)
