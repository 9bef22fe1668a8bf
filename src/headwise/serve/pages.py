"""The page for the browser: a fixed table of files, read once at the start.

Requests look up the table and nothing else, so none reaches the file system. The page may load its
own files and use its own server, nothing else, and contains no inline code.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "webmanifest": "application/manifest+json",
    "txt": "text/plain; charset=utf-8",
}
"""By the suffix of a file; files with other suffixes are not served."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    # Names are the same in all releases: browsers ask each time, and get 304 if nothing changed.
    "cache-control": "no-cache",
}
INDEX = "index.html"
NO_PAGE = "headwise: the API is described at /openapi.json; this installation has no page.\n"


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file as it is sent."""

    data: bytes
    type: str
    etag: str


def page_routes() -> list[Route]:
    """Make a route for each file of the page: `/`, and `/static/NAME` for the others."""
    table = read_files(files("headwise.serve") / "page")
    index = table.get(INDEX) or _file(NO_PAGE.encode(), TYPES["txt"])
    named = {f"/static/{name}": file for name, file in table.items() if name != INDEX}
    return [_route(path, file) for path, file in ({"/": index} | named).items()]


def read_files(folder: Traversable) -> Mapping[str, PageFile]:
    """Read the files of a folder, without those in folders inside it."""
    table = {}
    for entry in sorted(folder.iterdir(), key=lambda e: e.name) if folder.is_dir() else []:
        media_type = TYPES.get(entry.name.rpartition(".")[2])
        if media_type and entry.is_file():
            table[entry.name] = _file(entry.read_bytes(), media_type)
    return table


def _file(data: bytes, media_type: str) -> PageFile:
    return PageFile(data, media_type, f'"{hashlib.sha256(data).hexdigest()[:24]}"')


def _route(path: str, file: PageFile) -> Route:
    async def send(request: Request) -> Response:
        headers = HEADERS | {"etag": file.etag}
        known = request.headers.get("if-none-match", "")
        if file.etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(status_code=304, headers=headers)
        return Response(file.data, headers=headers | {"content-type": file.type})

    return Route(path, send, methods=["GET"])
