"""Open a file in the workbench and serve it to one person on this machine."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headwise.annotate.comparison import OtherFile
from headwise.annotate.file.disk import mode_like
from headwise.annotate.file.journal import SUFFIX
from headwise.annotate.file.saved import AnnotatedFile
from headwise.annotate.routes import PAGE_PATH, make_workbench_app
from headwise.annotate.workbench import Workbench
from headwise.errors import ConfigError, DataError
from headwise.files import whole_file
from headwise.runtime.parser import Parser
from headwise.serve.models import load_models
from headwise.serve.server import listen, run_app
from headwise.settings.serving import ServeConfig
from headwise.text.read import read_any
from headwise.text.segmenter import why_no_text

_TOKEN_BYTES = 24
_TEXT_SUFFIX, _CONLLU = ".txt", ".conllu"
_DOOR = ".headwise-open.html"
_DOOR_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={address}">
<title>headwise</title>
<a href="{address}">Open the workbench</a>
"""


def run_workbench(
    path: Path,
    model: str,
    port: int = 0,
    keep: bool | None = None,
    compare: Path | None = None,
    opens: bool = False,
    on_address: Callable[[str, Path | None], object] = lambda *_: None,
    on_warning: Callable[[str], object] = lambda _: None,
) -> None:
    """Serve the workbench for a file until a signal says stop; all edits are saved then.

    `on_address` gets the address with its token, when the page can be opened; with `opens`, also a
    local page that leads there, for a browser.
    """
    models = load_models([model])
    name = models.default
    parser = models.parsers[name]
    is_text = path.suffix.lower() == _TEXT_SUFFIX
    conllu = text_to_conllu(path, parser) if is_text else path
    config = ServeConfig(port=port, token=secrets.token_urlsafe(_TOKEN_BYTES))
    listener = listen(config)
    file = AnnotatedFile(conllu)
    try:
        if is_text:
            file.start_journal()
        other = None if compare is None else OtherFile(compare)
        language = models.languages.get(name, "")
        bench = Workbench(file, parser, name, language, keep, other, source=model)
    except BaseException:
        file.close()
        raise
    address = f"http://{config.host}:{listener.getsockname()[1]}{PAGE_PATH}#token={config.token}"

    door = file.path.with_name(file.path.name + _DOOR)

    def close() -> None:
        if opens:
            with suppress(OSError):  # the folder may be gone
                door.unlink()
        bench.close()
        if not file.is_saved:
            reason = file.failure or "it was changed by another program"
            on_warning(f"{file.path} was not saved: {reason}; all edits are in its journal")

    app = make_workbench_app(config, models, bench, close)
    if opens:
        try:
            write_door(door, address)
        except DataError as error:
            opens = False
            on_warning(f"the browser is not opened: {error}")
    run_app(app, config, listener, lambda: on_address(address, door if opens else None))


def write_door(path: Path, address: str) -> None:
    """Write a page that leads to an address and that nobody else can read.

    Everybody can read the command line of a browser, so the token must not be there. The page lies
    beside the file because a browser in a sandbox may not read temporary or hidden folders.
    """
    with whole_file(path, 0o600) as stream:
        stream.write(_DOOR_PAGE.format(address=address).encode("ascii"))


def text_to_conllu(path: Path, parser: Parser) -> Path:
    """Segment and parse a text into a file beside it; one that was made so before is used again.

    A link is not followed: nobody has named the file that it leads to.
    """
    target = path.with_suffix(_CONLLU)
    if os.path.lexists(target):
        if target.with_name(target.name + SUFFIX).exists() and not target.is_symlink():
            return target
        what = f"{target} already exists"
        raise ConfigError(what, f"to annotate it: headwise annotate {target}")
    no_text = why_no_text(parser.vocab.reads) if parser.vocab.reads else None
    sentences = read_any(path, "text", parser.segmenter, "raise", no_text)
    n_sentences = 0
    with whole_file(target, mode_like(path)) as stream:
        for sentence, _ in parser.annotate(sentences):
            stream.write(sentence.data)
            n_sentences += 1
        if not n_sentences:
            raise DataError("there are no sentences", str(path), hint="is it the right file?")
    return target
