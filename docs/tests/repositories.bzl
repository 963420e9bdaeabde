"""The files of this repository, for the test that what pages name exists."""

# Deeper than any folder is.
_DEPTH = 12

def _source_tree_repository_impl(rctx):
    folders = [rctx.path(Label("//:MODULE.bazel")).dirname]
    root = str(folders[0])
    files = []
    build_files = {}
    for _ in range(_DEPTH):
        below = []
        for folder in folders:
            for entry in folder.readdir(watch = "auto" if str(folder) == root else "no"):
                if entry.basename.startswith((".", "bazel-")):
                    continue
                if entry.is_dir:
                    # A watched folder below would be an error of Bazel after its deletion.
                    if str(folder) == root:
                        rctx.watch_tree(entry)
                    below.append(entry)
                    continue
                files.append(str(entry)[len(root) + 1:])
                if entry.basename == "BUILD.bazel":
                    build_files[str(folder)[len(root) + 1:]] = rctx.read(entry, watch = "no")
        folders = below
    rctx.file("source_tree.json", json.encode({"build_files": build_files, "files": files}))
    rctx.file("BUILD.bazel", """exports_files(["source_tree.json"])""")

source_tree_repository = repository_rule(
    doc = "One JSON file: all paths, and the text of each BUILD file by its package. Made anew when a file changes.",
    implementation = _source_tree_repository_impl,
)
