"""Rule python_tool."""

load("@rules_python//python:py_info.bzl", "PyInfo")
load(":import_paths.bzl", "import_paths")
load(":toolchain_types.bzl", "PYTHON_TOOLCHAIN_TYPE")

visibility(["//codegen/...", "//rules/..."])

# The directory with the modules is in the folder of the launcher, in the output tree and in runfiles.
_LAUNCHER = """\
#!/bin/sh
exec {interpreter} -I -S "$0.modules" "$@"
"""

def _interpreter(ctx, runtime):
    """Returns the interpreter for the launcher: a program of the machine, or a file in the tool's runfiles."""
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
    """Returns a file's path below the root of its repository."""
    return file.short_path.removeprefix("../{}/".format(ctx.label.repo_name))

def _python_tool_impl(ctx):
    runtime = ctx.toolchains[PYTHON_TOOLCHAIN_TYPE].py3_runtime
    sources = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps])
    runfiles = depset(transitive = [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps])
    modules = ctx.actions.declare_directory(ctx.label.name + ".modules")

    # The files of a Python runtime need not include the interpreter.
    interpreter = [runtime.interpreter] if runtime.interpreter else []
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
        inputs = depset([ctx.file._pack] + interpreter, transitive = [sources, runfiles, runtime.files or depset()]),
        outputs = [modules],
        env = {"PYTHONHASHSEED": "0"},
        mnemonic = "EtPackPython",
        progress_message = "Compiling %{label}",
        toolchain = PYTHON_TOOLCHAIN_TYPE,
    )
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(launcher, _LAUNCHER.format(interpreter = _interpreter(ctx, runtime)), is_executable = True)
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher, modules]),
        runfiles = ctx.runfiles([modules] + interpreter, transitive_files = runtime.files),
    )]

python_tool = rule(
    doc = """A Python program for actions: like a `py_binary`, with a faster start and fewer runfiles.

All imported modules are compiled once, into one directory, and the interpreter runs the bytecode. The program does not search for
runfiles, import `site` or compile sources, which would take most of the time of a short program. A worker gets files, whose changes
Bazel detects, and not a source directory with an environment.""",
    implementation = _python_tool_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "Python libraries. All modules of this package and its subpackages are compiled, of other packages only imported ones.",
            mandatory = True,
            providers = [PyInfo],
        ),
        "main": attr.string(
            doc = "The module with the function `main(arguments)`, which returns the exit code.",
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
    toolchains = [PYTHON_TOOLCHAIN_TYPE],
)
