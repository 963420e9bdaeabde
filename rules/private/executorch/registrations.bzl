"""Collects the registrations of all libraries of a binary, and checks them."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/actions:codegen.bzl", "codegen_args", "run_codegen")
load("//rules/private/actions:label_text.bzl", "label_text")
load("//rules/private/providers:et_backend_info.bzl", "EtBackendInfo")
load("//rules/private/providers:et_generated_lib_info.bzl", "EtGeneratedLibInfo")
load("//rules/private/providers:et_prebuilt_kernels_info.bzl", "EtPrebuiltKernelsInfo")
load("//rules/private/toolchains:find_runtime.bzl", "find_runtime")

visibility(["//rules/..."])

# The attributes by which libraries depend on libraries, in rules for C++ and in rules of this repository.
_EDGES = ["deps", "kernel_deps", "implementation_deps", "interface_deps", "exports", "roots", "dynamic_deps", "library"]

_RegistrationsInfo = provider(
    doc = "The registrations of a target and its linked libraries with the runtime.",
    fields = {
        "all_manifests": "depset[File]: `manifests`, and those of libraries that register only when a program asks them to.",
        "backends": "depset[str]: flags of the check, for the backends that libraries declare.",
        "dtypes": "depset[File]: of generated libraries with dtype_selective_build.",
        "listed": "depset[LinkerInput]: the prebuilt libraries with all that they link.",
        "listings": "depset[struct(label: str, operators: File)]: of prebuilt libraries.",
        "manifests": "depset[File]: of generated libraries.",
    },
)

def _registrations_aspect_impl(target, ctx):
    linked = []
    for edge in _EDGES:
        value = getattr(ctx.rule.attr, edge, None)
        values = value if type(value) == "list" else [value]
        linked += [dep[_RegistrationsInfo] for dep in values if type(dep) == "Target" and _RegistrationsInfo in dep]
    backends = [target[EtBackendInfo]] if EtBackendInfo in target else []
    generated = [target[EtGeneratedLibInfo]] if EtGeneratedLibInfo in target else []
    prebuilt = [target[EtPrebuiltKernelsInfo]] if EtPrebuiltKernelsInfo in target else []
    return [_RegistrationsInfo(
        all_manifests = depset(transitive = [info.all_manifests for info in linked] + (
            [target[OutputGroupInfo].manifest] if generated else []
        )),
        backends = depset(
            ["--backend={}\t{}".format(info.label, id) for info in backends for id in info.backend_ids],
            transitive = [info.backends for info in linked],
        ),
        dtypes = depset(transitive = [info.dtypes for info in linked + generated]),
        manifests = depset(transitive = [info.manifests for info in linked] + [info.registered for info in generated]),
        listed = depset(transitive = [info.listed for info in linked] + [info.linker_inputs for info in prebuilt]),
        listings = depset(
            [info.listing for info in prebuilt],
            transitive = [info.listings for info in linked],
        ),
    )]

registrations_aspect = aspect(
    doc = "Collects the registrations of libraries.",
    implementation = _registrations_aspect_impl,
    attr_aspects = _EDGES,
    provides = [_RegistrationsInfo],
)

def generated_libraries_of(target):
    """Returns the manifests of a target's generated libraries, including libraries with manual registration.

    Args:
      target: Target, reached with `registrations_aspect`.
    Returns:
      depset[File]: their registered.json.
    """
    return target[_RegistrationsInfo].all_manifests

def _linked_files(linker_input):
    """Returns the files of one linked library, each with a bool that tells whether the file is linked whole."""
    return [
        (file, library.alwayslink or file == library.dynamic_library)
        for library in linker_input.libraries
        for file in library.objects or library.pic_objects or [f for f in [
            library.static_library or library.pic_static_library or library.dynamic_library,
        ] if f]
        # Directories have the kernels of a dtype-selective build. Registrations in their sources are also in the kernel library.
        if not file.is_directory
    ]

# The separator is a tab: labels and paths may contain spaces, but no tabs.
def _object_flags(linker_input):
    return [
        "--{}={}\t{}".format("whole_object" if is_whole else "object", label_text(linker_input.owner), file.path)
        for file, is_whole in _linked_files(linker_input)
    ]

def _listed_flags(linker_input):
    return ["--listed=" + file.path for file, _ in _linked_files(linker_input)]

def _listing_flag(listing):
    return "--listing={}\t{}".format(listing.label, listing.operators.path)

def check_registrations(ctx, deps, program = None, program_label = None, methods = [], weights = []):
    """Checks that no kernel is registered twice, and that all operators of a program are registered for its dtypes.

    Also checks that the program has all its constants, or files of weights have them.

    Args:
      ctx: the context of a rule with CODEGEN_EXEC_GROUPS and a runtime toolchain, and with `registrations_aspect` on `deps`.
      deps: list[Target], the linked libraries.
      program: EtProgramInfo; None to check the libraries alone.
      program_label: Label of the program.
      methods: list[str], methods that the program must have.
      weights: list[File], the files with the constants that the program does not have.
    Returns:
      File: the report.
    """
    report = ctx.actions.declare_file(ctx.label.name + ".operators.txt")
    manifests = depset(transitive = [dep[_RegistrationsInfo].manifests for dep in deps])
    listings = depset(transitive = [dep[_RegistrationsInfo].listings for dep in deps])
    dtypes = depset(transitive = [dep[_RegistrationsInfo].dtypes for dep in deps])
    toolchain = find_runtime(ctx)
    listed = depset(transitive = [dep[_RegistrationsInfo].listed for dep in deps] + [
        runtime.linking_context.linker_inputs
        for runtime in [toolchain.program, toolchain.module]
    ])
    linker_inputs = depset(transitive = [dep[CcInfo].linking_context.linker_inputs for dep in deps])
    args = codegen_args(ctx, "check")
    args.add(label_text(ctx.label), format = "--label=%s")
    args.add(report, format = "--output=%s")
    args.add(toolchain.max_kernels, format = "--max_kernels=%s")
    of_program = []
    if program:
        args.add(program.program, format = "--program=%s")
        args.add(label_text(program_label), format = "--program_name=%s")
        args.add_all(weights, format_each = "--weights=%s")
        origins = [program.origins] if program.origins else []
        args.add_all(origins, format_each = "--origins=%s")
        of_program = [program.program] + weights + origins
    args.add_all(methods, format_each = "--method=%s")
    args.add_all(manifests, format_each = "--manifest=%s")
    args.add_all(dtypes, format_each = "--dtypes=%s")
    args.add_all(listings, map_each = _listing_flag)
    args.add_all(depset(transitive = [dep[_RegistrationsInfo].backends for dep in deps]))
    args.add_all(linker_inputs, map_each = _object_flags)
    args.add_all(listed, map_each = _listed_flags)
    run_codegen(
        ctx,
        args,
        inputs = depset(
            of_program,
            transitive = [
                manifests,
                dtypes,
                depset([listing.operators for listing in listings.to_list()]),
                depset([file for linker_input in linker_inputs.to_list() for file, _ in _linked_files(linker_input)]),
            ],
        ),
        outputs = [report],
        mnemonic = "EtCheck",
        progress_message = "Checking operators of %{label}",
    )
    return report
