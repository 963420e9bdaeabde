"""documentation_site: static pages from Markdown files."""

def _documentation_site_impl(ctx):
    output = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    for file in ctx.files.srcs:
        args.add("--file={}={}".format(file.short_path, file.path))
    for file in ctx.files.sources:
        args.add("--source={}={}".format(file.short_path, file.path))
    for title, pages in ctx.attr.sections.items():
        args.add("--section={}={}".format(title, ",".join(pages)))
    args.add("--version=" + ctx.attr.version)
    args.add("--output=" + output.path)
    ctx.actions.run(
        executable = ctx.executable._builder,
        arguments = [args],
        inputs = ctx.files.srcs + ctx.files.sources,
        outputs = [output],
        mnemonic = "DocumentationSite",
        progress_message = "Building the pages of %{label}",
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

documentation_site = rule(
    doc = "A folder of static pages, with README.md as the first.",
    implementation = _documentation_site_impl,
    attrs = {
        "sections": attr.string_list_dict(
            doc = "The contents: the pages of each section, by the section's title, as paths in the repository.",
            mandatory = True,
        ),
        "sources": attr.label_list(
            doc = "Other files that pages link to, which are shown unchanged.",
            allow_files = True,
        ),
        "srcs": attr.label_list(
            doc = "Pages and images.",
            allow_files = [".md", ".svg"],
            mandatory = True,
        ),
        "version": attr.string(
            doc = "The version of the documentation. Default: none, since a WORKSPACE has no version.",
        ),
        "_builder": attr.label(
            cfg = "exec",
            default = "//tools/site",
            executable = True,
        ),
    },
)
