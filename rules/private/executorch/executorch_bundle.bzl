"""Rule executorch_bundle."""

load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:implicit_attributes.bzl", "source_file")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/toolchains:find_runtime.bzl", "find_runtime", "use_runtime")
load("//rules/private/toolchains:runfiles_path.bzl", "runfiles_path")

visibility(["//rules/..."])

TEST_IN_BUNDLE_ERR = """{label}: attribute binary: expected an executable that is no test; got {binary} ({kind}).

Likely cause: binary has the test of a program instead of the runner. Bazel builds a test for a bundle with another
configuration than for //..., and both builds write the same files.
Fix: bundle an executorch_binary with the same deps and program.
See: docs/errors.md#test-in-bundle"""

_KindInfo = provider("The kind of rule of a target.", fields = {"kind": "str, as cc_test"})

def _kind_impl(_target, ctx):
    return [_KindInfo(kind = ctx.rule.kind)]

_kind = aspect(implementation = _kind_impl)

def _placed(kind, name, file):
    """Returns the flags for a file and for its path in the bundle."""
    return ["--{}={}".format(kind, name), "--{}_source={}".format(kind, file.path)]

def _executorch_bundle_impl(ctx):
    binary = ctx.executable.binary
    kind = ctx.attr.binary[_KindInfo].kind
    if kind.endswith("_test"):
        fail(TEST_IN_BUNDLE_ERR.format(label = ctx.label, binary = ctx.attr.binary.label, kind = kind))
    runfiles = ctx.attr.binary[DefaultInfo].default_runfiles
    workspace = ctx.workspace_name

    def runfile(file):
        return _placed("runfile", runfiles_path(workspace, file), file) if file != binary else None

    def symlink(entry):
        return _placed("runfile", workspace + "/" + entry.path, entry.target_file)

    def root_symlink(entry):
        return _placed("runfile", entry.path, entry.target_file)

    def license(file):
        return _placed("license", runfiles_path(workspace, file), file)

    folder = ctx.actions.declare_directory(ctx.label.name)
    archive = ctx.actions.declare_file(ctx.label.name + ".tar")
    licenses = depset(
        ctx.files.license_files + ctx.files._license,
        transitive = [find_runtime(ctx).licenses],
    )
    args = codegen_args(ctx, "bundle")
    args.add("--label", label_text(ctx.label))
    args.add("--binary", binary)
    args.add_all(runfiles.files, map_each = runfile, allow_closure = True)
    args.add_all(runfiles.symlinks, map_each = symlink, allow_closure = True)
    args.add_all(runfiles.root_symlinks, map_each = root_symlink, allow_closure = True)
    args.add_all(licenses, map_each = license, allow_closure = True)
    args.add_all([folder], before_each = "--folder", expand_directories = False)
    args.add("--tar", archive)
    run_codegen(
        ctx,
        args,
        inputs = depset(
            [binary] + [entry.target_file for entry in runfiles.symlinks.to_list() + runfiles.root_symlinks.to_list()],
            transitive = [runfiles.files, licenses],
        ),
        outputs = [folder, archive],
        mnemonic = "EtBundle",
        progress_message = "Bundling %{label}",
    )
    return [
        DefaultInfo(files = depset([folder, archive])),
        OutputGroupInfo(folder = depset([folder]), tar = depset([archive])),
    ]

executorch_bundle = rule(
    doc = """A binary with all its files, as a folder and as a tar archive, for machines without Bazel.

The outputs are the folder `<name>` and `<name>.tar`, which has the folder. Each output is also an output group: `folder`, `tar`.
The folder has:

- `<binary>`, the executable.
- `<binary>.runfiles`, with the runtime's libraries, the program, its samples and `data`. The executable finds the libraries by
  `$ORIGIN`, so the folder may be moved, but not the executable alone.
- `licenses`, with the licenses of rules_executorch and of the runtime, and with `license_files`.
- `manifest.json`: the processor of the binary, the needed libraries of the system with the versions of their symbols, the
  licenses, and path, size in bytes and SHA-256 of every other file.

On the target machine, the dynamic linker needs /proc to resolve `$ORIGIN`. The archive has no owners and no times, so the same
files give the same archive.""",
    implementation = _executorch_bundle_impl,
    attrs = {
        "binary": attr.label(
            doc = "An `executorch_binary`, a `torch_aoti_binary` or a `cc_binary`. A test is an error.",
            aspects = [_kind],
            mandatory = True,
            executable = True,
            cfg = "target",
        ),
        "license_files": attr.label_list(
            doc = "Further license files, e.g. of the model, of kernels and of libraries in the bundle.",
            allow_files = True,
        ),
        "_license": source_file("//:LICENSE"),
    },
    exec_groups = CODEGEN_EXEC_GROUPS,
    fragments = ["platform"],
    toolchains = use_runtime(),
)
