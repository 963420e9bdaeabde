"""Rule emulator."""

# buildifier: disable=bzl-visibility
load("//rules/private/toolchains:runfiles_path.bzl", "runfiles_path")

_LAUNCHER = """\
#!/bin/sh
# The runfiles of a test, else those of this script.
runfiles=${{RUNFILES_DIR:-$0.runfiles}}
[ -e "$runfiles/{qemu}" ] || runfiles=$0.runfiles
loader=$(readlink -f "$runfiles/{loader}")
exec "$runfiles/{qemu}" -cpu "${{QEMU_CPU:-{processor}}}" -L "${{loader%/lib/*}}" "$@"
"""

def _emulator_impl(ctx):
    launcher = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        launcher,
        _LAUNCHER.format(
            loader = runfiles_path(ctx.workspace_name, ctx.file.loader),
            processor = ctx.attr.processor,
            qemu = runfiles_path(ctx.workspace_name, ctx.file.qemu),
        ),
        is_executable = True,
    )
    return [DefaultInfo(
        executable = launcher,
        runfiles = ctx.runfiles([ctx.file.qemu, ctx.file.loader] + ctx.files.libraries),
    )]

emulator = rule(
    doc = """A program for `--run_under`, which runs programs of another platform in QEMU.

The environment variable `QEMU_CPU` names the processor.""",
    implementation = _emulator_impl,
    attrs = {
        "libraries": attr.label_list(
            doc = "The C and C++ libraries of the platform, in the folder of the loader.",
            allow_files = True,
        ),
        "loader": attr.label(
            doc = "The dynamic loader of the platform, in a folder `lib`.",
            mandatory = True,
            allow_single_file = True,
        ),
        "processor": attr.string(
            doc = "The processor without `QEMU_CPU`. Default: `max`, which has all instructions that QEMU knows.",
            default = "max",
        ),
        "qemu": attr.label(
            doc = "QEMU's emulator of the platform's programs.",
            mandatory = True,
            allow_single_file = True,
        ),
    },
    executable = True,
)
