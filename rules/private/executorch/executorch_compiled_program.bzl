"""Rules executorch_compiled_program and executorch_compiled_program_test."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:cc.bzl", "CC_LINK_EXEC_GROUPS", "archive_cc", "compile_cc", "configure_cc", "default_link_flags", "link_cc")
load("//rules/private/actions:codegen.bzl", "CODEGEN_EXEC_GROUPS", "codegen_args", "run_codegen")
load("//rules/private/actions:implicit_attributes.bzl", "build_setting", "cc_dependency")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/actions:link_runner.bzl", "TOLERANCE_ATTRS", "check_tolerances")
load("//rules/private/providers:et_compiled_program_info.bzl", "EtCompiledProgramInfo")
load("//rules/private/providers:et_generated_lib_info.bzl", "EtGeneratedLibInfo")
load("//rules/private/providers:et_program_info.bzl", "program_of")
load("//rules/private/toolchains:find_runtime.bzl", "find_headers", "use_headers")

visibility(["//rules/..."])

BAD_CPP_NAMESPACE_ERR = """{label}: attribute cpp_namespace: expected a name of C++, such as my_model; got "{name}".

Likely cause: the name of the target, which is the default, is no name of C++.
Fix: give cpp_namespace = "{possible}".
See: docs/errors.md#bad-cpp-namespace"""

NO_KERNELS_ERR = """{label}: attribute library: expected an executorch_generated_lib with kernels of ExecuTorch; got {library}, which has none.

Likely cause: {library} has aten_mode = True or fallback = "aten", or custom operators for PyTorch only.
Fix: name a library with kernels, e.g. the <name>_lib of an executorch_model.
See: docs/errors.md#no-kernels"""

NO_COMPILED_SAMPLES_ERR = """{label}: attribute program: expected a program with sample inputs and their outputs; {program} has none.

Likely cause: {program} was compiled from a plain .pte file.
Fix: compile an executorch_program, which gives the samples.
See: docs/errors.md#no-samples"""

# The formats of object files into which assembly includes the constants in the same way.
_ELF_SYSTEMS = ["android", "freebsd", "linux", "none", "qnx"]

_ELF_ATTRS = {
    "_elf": attr.label_list(
        default = ["@platforms//os:" + system for system in _ELF_SYSTEMS],
        providers = [platform_common.ConstraintValueInfo],
    ),
}

def _is_elf(ctx):
    return bool([
        constraint
        for constraint in ctx.attr._elf
        if ctx.target_platform_has_constraint(constraint[platform_common.ConstraintValueInfo])
    ])

def _cpp_name(text):
    """The text with `_` for each character that no name of C++ has."""
    name = "".join([c if c.isalnum() else "_" for c in text.elems()])
    return "_" + name if name[0].isdigit() else name

def _compile_args(ctx, compiled):
    """The arguments of `codegen compile` that both rules have."""
    args = codegen_args(ctx, "compile")
    args.add(compiled.label_text, format = "--label=%s")
    args.add(compiled.program.program, format = "--program=%s")
    args.add(compiled.program_name, format = "--program_name=%s")
    args.add(compiled.library.manifest, format = "--manifest=%s")
    args.add_all(compiled.library.dtypes, format_each = "--dtypes=%s")
    args.add(compiled.native_functions, format = "--native_functions=%s")
    args.add_all([compiled.typed_kernels] if compiled.typed_kernels else [], format_each = "--typed_kernels=%s")
    args.add(compiled.cpp_namespace, format = "--cpp_namespace=%s")
    args.add(compiled.include, format = "--include=%s")
    return args

def _declare_constants(ctx, with_source = True):
    """Declares the files of an array of constants: the bytes, and a list with the source for the platform."""
    name = ctx.label.name + ".constants."
    endings = ["S" if _is_elf(ctx) else "cpp"] if with_source else []
    return ctx.actions.declare_file(name + "bin"), [ctx.actions.declare_file(name + ending) for ending in endings]

def _executorch_compiled_program_impl(ctx):
    name = ctx.label.name
    library = ctx.attr.library[EtGeneratedLibInfo]
    if not library.kernels:
        fail(NO_KERNELS_ERR.format(label = ctx.label, library = ctx.attr.library.label))
    namespace = ctx.attr.cpp_namespace or name
    if namespace != _cpp_name(namespace):
        fail(BAD_CPP_NAMESPACE_ERR.format(label = ctx.label, name = namespace, possible = _cpp_name(namespace)))
    header = ctx.actions.declare_file(name + ".h")
    source = ctx.actions.declare_file(name + ".cpp")
    c_header = ctx.actions.declare_file(name + "_c.h")
    c_source = ctx.actions.declare_file(name + "_c.cpp")
    memory = ctx.actions.declare_file(name + ".memory.txt")
    by_pointer = ctx.attr.constants == "pointer"
    constants, constants_source = _declare_constants(ctx, with_source = not by_pointer)
    library_label = ctx.attr.library.label
    is_small = (ctx.attr.optimize or ctx.attr._optimize[BuildSettingInfo].value) == "size"
    folder = "/".join([part for part in [library_label.package, library_label.name] if part])
    compiled = struct(
        cpp_namespace = namespace,
        include = "/".join([part for part in [ctx.label.package, name + ".h"] if part]),
        label_text = label_text(ctx.label),
        library = library,
        native_functions = folder + "/NativeFunctions.h",
        program = program_of(ctx.attr.program),
        program_name = label_text(ctx.attr.program.label),
        scratch_bytes = ctx.attr.scratch_bytes,
        typed_kernels = folder + "/TypedKernels.h" if library.typed_kernels and not is_small else None,
    )
    args = _compile_args(ctx, compiled)
    origins = [compiled.program.origins] if compiled.program.origins else []
    args.add_all(origins, format_each = "--origins=%s")
    args.add(header, format = "--header=%s")
    args.add(source, format = "--source=%s")
    args.add(c_header, format = "--c_header=%s")
    args.add(c_source, format = "--c_source=%s")
    args.add(constants, format = "--constants=%s")
    args.add(memory, format = "--memory=%s")
    args.add_all(constants_source, format_each = "--constants_source=%s")
    if by_pointer:
        args.add("--constants_by_pointer")
    if is_small:
        args.add("--optimize=size")
    if ctx.attr.scratch_bytes >= 0:
        args.add(ctx.attr.scratch_bytes, format = "--scratch_bytes=%s")
    run_codegen(
        ctx,
        args,
        inputs = depset([compiled.program.program, library.manifest] + origins, transitive = [library.dtypes]),
        outputs = [header, source, c_header, c_source, constants, memory] + constants_source,
        mnemonic = "EtCompile",
        progress_message = "Compiling a program to C++ for %{label}",
    )
    cc = configure_cc(ctx)
    support = ([ctx.attr._fixed] if is_small else []) + [ctx.attr._support, ctx.attr._runtime_functions]
    support = [dep[CcInfo] for dep in support]
    compilation_context, objects = compile_cc(
        cc,
        srcs = [source, c_source] + constants_source,
        public_hdrs = [header, c_header],
        additional_inputs = [constants],
        user_compile_flags = ctx.attr.copts,
        compilation_contexts = [find_headers(ctx).compilation_context, library.kernels.compilation_context] +
                               [info.compilation_context for info in support],
    )
    linking_context, archive = archive_cc(
        cc,
        objects,
        [library.kernels.linking_context] + [info.linking_context for info in support],
    )
    return [
        DefaultInfo(files = depset([header, c_header, archive.static_library or archive.pic_static_library])),
        CcInfo(compilation_context = compilation_context, linking_context = linking_context),
        EtCompiledProgramInfo(compiled = compiled),
        OutputGroupInfo(
            constants = depset([constants]),
            generated = depset([header, source, c_header, c_source]),
            memory = depset([memory]),
        ),
    ]

executorch_compiled_program = rule(
    doc = """A program as a C++ library for any platform, without ExecuTorch's runtime.

The header `<name>.h` has a class for each method of the program, in the namespace `cpp_namespace`. docs/compiled_programs.md
describes the class. `<name>_c.h` has the same for C. The library has the kernels that the program calls. It needs no loader, no
registry, no heap, no exceptions and no RTTI. Output groups:

- `memory`: `<name>.memory.txt`, the bytes of planned memory, state, inputs, outputs and constants.
- `generated`: the headers and the sources.
- `constants`: the bytes of the constants, `<name>.constants.bin`.

The program must not delegate to backends and must not have constants in other files.""",
    implementation = _executorch_compiled_program_impl,
    attrs = _ELF_ATTRS | {
        "constants": attr.string(
            doc = "Where the constants are. `linked`: in the library. `pointer`: the application passes the address of the content of " +
                  "`<name>.constants.bin`, aligned to 64 bytes, to the constructors, for flash memory or a mapped file. Default: linked.",
            default = "linked",
            values = ["linked", "pointer"],
        ),
        "copts": attr.string_list(doc = "Options of the C++ compiler for the generated source."),
        "cpp_namespace": attr.string(doc = "The C++ namespace of the classes. Default: the name of the target."),
        "library": attr.label(
            doc = "The `executorch_generated_lib` with the kernels of the program, such as the `<name>_lib` of an `executorch_model`.",
            mandatory = True,
            providers = [EtGeneratedLibInfo],
        ),
        "optimize": attr.string(
            doc = "`size`: calls with fixed sizes are loops, of which each is as small as possible, in place of the library's kernels. " +
                  "`speed`: all calls are of the library's kernels. Default: the flag `--@rules_executorch//rules:optimize`.",
            values = ["", "size", "speed"],
        ),
        "program": attr.label(
            doc = "The program: an `executorch_program` or a .pte file.",
            allow_single_file = [".pte"],
            mandatory = True,
        ),
        "scratch_bytes": attr.int(
            doc = "The bytes of scratch memory that kernels need, for `kScratchBytes` of the header. The test of the program gives the " +
                  "kernels this much. Default: not known, except that a method without calls of the library's kernels needs none. The " +
                  "test then prints how many bytes kernels used.",
            default = -1,
        ),
        "_fixed": cc_dependency("//kernels/fixed"),
        "_optimize": build_setting("//rules:optimize"),
        "_runtime_functions": cc_dependency("//runtime/compiled:runtime_functions"),
        "_support": cc_dependency("//runtime/compiled:support"),
    },
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    provides = [CcInfo, EtCompiledProgramInfo],
    toolchains = use_cc_toolchain() + use_headers(),
)

def _link_check(ctx):
    """Links the program that runs the samples."""
    check_tolerances(ctx)
    compiled = ctx.attr.program[EtCompiledProgramInfo].compiled
    if not compiled.program.samples:
        fail(NO_COMPILED_SAMPLES_ERR.format(label = ctx.label, program = ctx.attr.program.label))
    source = ctx.actions.declare_file(ctx.label.name + ".cpp")
    samples, samples_source = _declare_constants(ctx)
    args = _compile_args(ctx, compiled)
    args.add(compiled.program.samples, format = "--samples=%s")
    args.add(source, format = "--check=%s")
    args.add(samples, format = "--constants=%s")
    args.add_all(samples_source, format_each = "--constants_source=%s")
    args.add(ctx.attr.scratch_bytes or max(compiled.scratch_bytes, 0) or 1 << 26, format = "--scratch_bytes=%s")
    for attribute in ["atol", "rtol", "min_snr"]:
        if getattr(ctx.attr, attribute):
            args.add(getattr(ctx.attr, attribute), format = "--" + attribute + "=%s")
    run_codegen(
        ctx,
        args,
        inputs = depset(
            [compiled.program.program, compiled.program.samples, compiled.library.manifest],
            transitive = [compiled.library.dtypes],
        ),
        outputs = [source, samples] + samples_source,
        mnemonic = "EtCompileCheck",
        progress_message = "Writing the check of %{label}",
    )
    cc = configure_cc(ctx)
    infos = [dep[CcInfo] for dep in [ctx.attr.program, ctx.attr._check] + ctx.attr.deps]
    _, objects = compile_cc(
        cc,
        srcs = [source] + samples_source,
        additional_inputs = [samples],
        compilation_contexts = [info.compilation_context for info in infos],
    )
    linked = link_cc(
        cc,
        objects,
        [info.linking_context for info in infos],
        output_type = "executable",
        user_link_flags = default_link_flags(cc) + ctx.attr.linkopts,
    )
    return linked.executable

def _executorch_compiled_program_test_impl(ctx):
    executable = _link_check(ctx)
    runner = ctx.attr.run_under
    if not runner:
        return [DefaultInfo(executable = executable, files = depset([executable]))]
    launcher = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        launcher,
        "#!/bin/sh\nexec \"{}\" \"{}\"\n".format(ctx.executable.run_under.short_path, executable.short_path),
        is_executable = True,
    )
    return [DefaultInfo(
        executable = launcher,
        files = depset([launcher]),
        runfiles = ctx.runfiles([executable]).merge(runner[DefaultInfo].default_runfiles),
    )]

executorch_compiled_program_test = rule(
    doc = """Tests that a compiled program's outputs equal PyTorch's for all samples of all methods, within
[tolerances](runner.md#tolerances).

The samples are a part of the test's executable, which reads no files. The test also fails if a kernel writes outside of the
planned memory.""",
    implementation = _executorch_compiled_program_test_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "C++ libraries for the test: one that defines `write_to_console` of runtime/compiled/console.h. Default: " +
                  "`//runtime/compiled:console`, which writes to the standard output.",
            default = [Label("//runtime/compiled:console")],
            providers = [CcInfo],
        ),
        "linkopts": attr.string_list(doc = "Options for the linker."),
        "program": attr.label(
            doc = "The `executorch_compiled_program`.",
            mandatory = True,
            providers = [EtCompiledProgramInfo],
        ),
        "run_under": attr.label(
            doc = "A program that runs the test's executable, such as an emulator. Default: the machine itself.",
            cfg = "exec",
            executable = True,
        ),
        "scratch_bytes": attr.int(
            doc = "The bytes of scratch memory for kernels. The test prints how many were used. Default: `scratch_bytes` of the " +
                  "program, or 64 MiB.",
        ),
        "_check": cc_dependency("//runtime/compiled:check"),
    } | TOLERANCE_ATTRS | _ELF_ATTRS,
    exec_groups = CODEGEN_EXEC_GROUPS | CC_LINK_EXEC_GROUPS,
    fragments = ["cpp", "platform"],
    test = True,
    toolchains = use_cc_toolchain() + use_headers(),
)
