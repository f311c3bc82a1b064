"""The default index part of the snapshot: fetched, trimmed and written as pages."""

from collections.abc import Iterable, Mapping

from snapshot_tools.core_metadata import hash_text
from snapshot_tools.crawl import Crawl, crawl_registry
from snapshot_tools.derive import RegistryText
from snapshot_tools.download import Downloads
from snapshot_tools.json_lines import render_texts
from snapshot_tools.registry import ACCEPT, RegistryFile, parse_project_page, render_project_page


def record_registry(
    seeds: Iterable[str], *, downloads: Downloads, address: str, until: str
) -> Crawl:
    """Walk the index from the seed requirements."""

    def load_pages(projects: Iterable[str]) -> Mapping[str, tuple[RegistryFile, ...] | None]:
        urls = {f"{address}{project}/": project for project in projects}
        bodies = downloads.load_all(urls, accept=ACCEPT)
        return {
            urls[url]: None if body is None else parse_project_page(urls[url], body, until=until)
            for url, body in bodies.items()
        }

    def load_texts(urls: Iterable[str]) -> Mapping[str, str]:
        bodies = downloads.load_all_wheel_metadata(urls)
        return {url: body.decode("utf-8") for url, body in bodies.items()}

    return crawl_registry(seeds, load_pages=load_pages, load_texts=load_texts)


def render_registry_part(crawl: Crawl) -> dict[str, str]:
    """Render the pages and metadata texts of all kept projects, by path."""
    rendered: dict[str, str] = {}
    for project, files in crawl.kept.items():
        if not files:
            continue
        texts = {file.filename: crawl.texts[file.url] for file in files if file.url in crawl.texts}
        hashes = {filename: hash_text(text) for filename, text in texts.items()}
        rendered[f"simple/{project}/index.json"] = render_project_page(project, files, hashes)
        rendered[f"simple/{project}/metadata.json"] = render_texts(
            {hash_text(text): text for text in texts.values()}
        )
    return rendered


def iter_registry_texts(crawl: Crawl) -> Iterable[RegistryText]:
    """Yield the recorded metadata of each kept wheel."""
    for project, files in crawl.kept.items():
        for file in files:
            if file.url in crawl.texts:
                yield RegistryText(
                    project=project,
                    version=file.version,
                    filename=file.filename,
                    sha256=file.sha256,
                    text=crawl.texts[file.url],
                )
