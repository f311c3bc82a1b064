"""The HTML pages of the PyTorch indexes, in the form their generator writes them."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from snapshot_tools.facts import FactsFile

_SAME_HOST = "download.pytorch.org"


def render_file_page(
    project: str, files: Iterable[FactsFile], metadata_hashes: Mapping[str, str], *, stamp: int
) -> str:
    """Render the list of files of a project, sorted by escaped key as the generator does."""
    listed = sorted(files, key=lambda file: quote(file.place))
    lines = [_render_anchor(file, metadata_hashes.get(file.place)) for file in listed]
    return _render_page([f"    <h1>Links for {project}</h1>", *lines], stamp=stamp)


def render_project_list(projects: Iterable[str], *, stamp: int) -> str:
    """Render the list of projects of an index."""
    return _render_page(
        [f'    <a href="{project}/">{project}</a><br/>' for project in sorted(projects)],
        stamp=stamp,
    )


def _render_page(lines: list[str], *, stamp: int) -> str:
    return "\n".join(
        [
            "<!DOCTYPE html>",
            "<html>",
            "  <body>",
            *lines,
            "  </body>",
            "</html>",
            f"<!--TIMESTAMP {stamp}-->",
            "",
        ]
    )


def _render_anchor(file: FactsFile, metadata_hash: str | None) -> str:
    parts = urlsplit(file.url)
    href = (
        parts.path if parts.netloc == _SAME_HOST else f"{parts.scheme}://{parts.netloc}{parts.path}"
    )
    if file.sha256:
        href += f"#sha256={file.sha256}"
    attributes = ""
    if metadata_hash:
        for name in ("data-dist-info-metadata", "data-core-metadata"):
            attributes += f' {name}="sha256={metadata_hash}"'
    if file.upload_time:
        attributes += f' data-upload-time="{file.upload_time}"'
    return f'    <a href="{href}"{attributes}>{file.filename}</a><br/>'
