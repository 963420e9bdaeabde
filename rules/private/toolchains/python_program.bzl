"""Rule python_program."""

load("@rules_python//python:py_info.bzl", "PyInfo")
load(":runfiles_path.bzl", "runfiles_path")
load(":toolchain_types.bzl", "PYTHON_TOOLCHAIN_TYPE")

# The runfiles of the program are beside the launcher. If the program is in the runfiles of another target, the program's
# files are there, too. As in a py_binary, the folder of the program is no place of modules: the modules beside it could
# hide a user's.
_LAUNCHER = """\
#!/bin/sh
case $0 in
/*) program=$0 ;;
*) program=$PWD/$0 ;;
esac
case $program in
*.runfiles/*) around=${{program%.runfiles/*}}.runfiles ;;
*) around= ;;
esac
for runfiles in "$program.runfiles" "$around" "${{RUNFILES_DIR:-}}" "${{TEST_SRCDIR:-}}" ""; do
    [ ! -f "$runfiles/{main}" ] || break
done
[ -n "$runfiles" ] || {{
    echo "rules_executorch: $program: found no runfiles with {main}; start the program with Bazel" >&2
    exit 1
}}
case $runfiles in
/*) ;;
*) runfiles=$PWD/$runfiles ;;
esac
export RUNFILES_DIR="$runfiles"
export PYTHONPATH="{path}"
export PYTHONSAFEPATH=1
exec {interpreter} "$runfiles/{main}" "$@"
"""

def _python_program_impl(ctx):
    runtime = ctx.toolchains[PYTHON_TOOLCHAIN_TYPE].py3_runtime
    interpreter = [runtime.interpreter] if runtime.interpreter else []
    imports = depset(transitive = [dep[PyInfo].imports for dep in ctx.attr.deps]).to_list()
    paths = ["$runfiles/" + path for path in imports + [ctx.label.repo_name or ctx.workspace_name]]
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        launcher,
        _LAUNCHER.format(
            interpreter = '"$runfiles/{}"'.format(runfiles_path(ctx.workspace_name, runtime.interpreter)) if interpreter else runtime.interpreter_path,
            main = runfiles_path(ctx.workspace_name, ctx.file.main),
            path = ":".join(paths),
        ),
        is_executable = True,
    )

    # A py_library has its sources in its runfiles before rules_python 0.37 only.
    runfiles = ctx.runfiles(
        [ctx.file.main] + ctx.files.data + interpreter,
        transitive_files = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps] + [runtime.files or depset()]),
    ).merge_all([target[DefaultInfo].default_runfiles for target in ctx.attr.deps + ctx.attr.data])
    return [DefaultInfo(executable = launcher, files = depset([launcher]), runfiles = runfiles)]

python_program = rule(
    doc = """A Python program that runs under the Python of the tools: like a `py_binary`, whose Python is that of the workspace.

The packages of an environment are for one version of Python. A workspace may have a Python toolchain of another version.""",
    implementation = _python_program_impl,
    attrs = {
        "data": attr.label_list(
            doc = "Files that the program reads.",
            allow_files = True,
        ),
        "deps": attr.label_list(
            doc = "Python libraries.",
            providers = [PyInfo],
        ),
        "main": attr.label(
            doc = "The Python file to run.",
            allow_single_file = [".py"],
            mandatory = True,
        ),
    },
    executable = True,
    toolchains = [PYTHON_TOOLCHAIN_TYPE],
)
