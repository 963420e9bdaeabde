"""Rule python_tool."""

load("@rules_python//python:defs.bzl", "PyInfo")
load(":import_paths.bzl", "import_paths")

visibility(["//codegen/...", "//rules/..."])

_PYTHON_TOOLCHAIN_TYPE = "@bazel_tools//tools/python:toolchain_type"

# The modules lie beside it, in an output tree as in runfiles.
_LAUNCHER = """\
#!/bin/sh
exec {interpreter} -I -S "$0.modules" "$@"
"""

def _interpreter(ctx, runtime):
    """The interpreter as the launcher names it: a program of the machine, or a file of the tool's runfiles."""
    if runtime.interpreter_path:
        return runtime.interpreter_path
    path = runtime.interpreter.short_path
    return '"$0.runfiles/{}"'.format(path.removeprefix("../") if path.startswith("../") else ctx.workspace_name + "/" + path)

def _own(ctx, files):
    package = ctx.label.package + "/"
    return [
        file
        for file in files.to_list()
        if (file.owner.package + "/").startswith(package) and file.owner.repo_name == ctx.label.repo_name
    ]

def _import_name(ctx, file):
    """A file's path below the root of its repository."""
    return file.short_path.removeprefix("../{}/".format(ctx.label.repo_name))

def _python_tool_impl(ctx):
    runtime = ctx.toolchains[_PYTHON_TOOLCHAIN_TYPE].py3_runtime
    sources = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps])
    runfiles = depset(transitive = [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps])
    modules = ctx.actions.declare_directory(ctx.label.name + ".modules")
    args = ctx.actions.args()
    args.add(runtime.interpreter or runtime.interpreter_path)
    args.add_all(["-I", "-S", "-B"])
    args.add(ctx.file._pack)
    args.add("--main", ctx.attr.main)
    args.add("--output", modules.path)
    args.add_all(import_paths(ctx, ctx.attr.deps), before_each = "--import_path")
    for file in _own(ctx, sources):
        args.add("--module", _import_name(ctx, file).removesuffix(".py").replace("/", "."))
    for file in _own(ctx, runfiles):
        if file.extension != "py":
            args.add_all("--data", [file.path, _import_name(ctx, file)])
    ctx.actions.run(
        executable = ctx.file._python,
        arguments = [args],
        inputs = depset([ctx.file._pack], transitive = [sources, runfiles, runtime.files or depset()]),
        outputs = [modules],
        env = {"PYTHONHASHSEED": "0"},
        mnemonic = "EtPackPython",
        progress_message = "Compiling %{label}",
        toolchain = _PYTHON_TOOLCHAIN_TYPE,
    )
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(launcher, _LAUNCHER.format(interpreter = _interpreter(ctx, runtime)), is_executable = True)

    # The runtime's files need not have its interpreter among them.
    interpreter = [runtime.interpreter] if runtime.interpreter else []
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher, modules]),
        runfiles = ctx.runfiles([modules] + interpreter, transitive_files = runtime.files),
    )]

python_tool = rule(
    doc = """A Python program for actions: like a `py_binary`, with less to do before its first line and less to link.

All modules that it imports are compiled once, into one directory, and one interpreter runs them as they are: no search
for the runfiles, no `site`, no source to compile, which is most of what a short program takes. A worker gets files, of
which Bazel sees a change, and not an environment as a directory.""",
    implementation = _python_tool_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "Python libraries. Those of this package and of packages below are compiled as a whole, of others what they import.",
            mandatory = True,
            providers = [PyInfo],
        ),
        "main": attr.string(
            doc = "Module whose `main(arguments)` runs and returns the exit code.",
            mandatory = True,
        ),
        "_pack": attr.label(
            default = "//rules/private/toolchains:pack_python_tool.py",
            allow_single_file = True,
        ),
        "_python": attr.label(
            default = "//rules/private/toolchains:python.sh",
            allow_single_file = True,
        ),
    },
    executable = True,
    toolchains = [_PYTHON_TOOLCHAIN_TYPE],
)
