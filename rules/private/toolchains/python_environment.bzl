"""Rule python_environment."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load(":toolchain_types.bzl", "PYTHON_TOOLCHAIN_TYPE")

WAY_ERR = """{label}: flag --{setting}: expected directory, tree or an absolute path; got {value}.

Likely cause: a spelling mistake, or a relative path.
Fix: give directory, tree, or the absolute path of a folder that the workers have.
See: docs/errors.md#unknown-python-environment"""

def _run(ctx, arguments, inputs, outputs, progress_message):
    runtime = ctx.toolchains[PYTHON_TOOLCHAIN_TYPE].py3_runtime
    interpreter = [runtime.interpreter] if runtime.interpreter else []
    args = ctx.actions.args()
    args.add(runtime.interpreter or runtime.interpreter_path)
    args.add_all(["-I", "-S", "-B"])
    args.add(ctx.file._program)
    args.add("--python", ctx.attr.python)
    args.add_all(arguments)
    ctx.actions.run(
        executable = ctx.file._python,
        arguments = [args],
        inputs = depset([ctx.file._program] + interpreter + inputs, transitive = [runtime.files or depset()]),
        outputs = outputs,
        mnemonic = "EtPythonEnvironment",
        progress_message = progress_message,
        toolchain = PYTHON_TOOLCHAIN_TYPE,
    )

def _python_environment_impl(ctx):
    way = ctx.attr._way[BuildSettingInfo].value
    directory = ctx.file.directory
    if way == "directory":
        return [DefaultInfo(files = depset([directory]))]
    if way == "tree":
        tree = ctx.actions.declare_directory(directory.basename)
        _run(
            ctx,
            ["--directory", directory.path, "--copy", tree.path],
            [directory],
            [tree],
            "Copying %{label}",
        )
        return [DefaultInfo(files = depset([tree]))]
    if not way.startswith("/"):
        fail(WAY_ERR.format(label = ctx.label, setting = ctx.attr._way.label, value = way))
    link = ctx.actions.declare_symlink(directory.basename)
    path = "/".join([way, ctx.attr.fingerprint, directory.basename])
    ctx.actions.symlink(output = link, target_path = path)
    checked = ctx.actions.declare_file(directory.basename + ".fingerprint")
    _run(
        ctx,
        ["--directory", path, "--fingerprint", ctx.attr.fingerprint, "--output", checked.path],
        [],
        [checked],
        "Looking for %{label}",
    )
    return [DefaultInfo(files = depset([link, checked]))]

python_environment = rule(
    doc = """Installed Python packages for actions and tests, in the form that the flag //rules:python_environment names.

`directory`: one source directory. A local action gets one link. Bazel 7 sends such a directory without its files to a remote
action with the directory in runfiles. `tree`: the tree artifact of an action, which Bazel sends once, with all files. A path: a
link to `<path>/<fingerprint>/site-packages`, which must exist on all machines. Bazel does not send the folder.""",
    implementation = _python_environment_impl,
    attrs = {
        "directory": attr.label(
            doc = "The site-packages directory.",
            allow_single_file = True,
            mandatory = True,
        ),
        "fingerprint": attr.string(
            doc = "The fingerprint that python_environment.py computes for the directory.",
            mandatory = True,
        ),
        "python": attr.string(
            doc = "The version of Python for which the packages were installed, e.g. 3.11.",
            mandatory = True,
        ),
        "_program": attr.label(
            default = "//rules/private/toolchains:python_environment.py",
            allow_single_file = True,
        ),
        "_python": attr.label(
            default = "//rules/private/toolchains:python.sh",
            allow_single_file = True,
        ),
        "_way": attr.label(
            default = "//rules:python_environment",
            providers = [BuildSettingInfo],
        ),
    },
    toolchains = [PYTHON_TOOLCHAIN_TYPE],
)
