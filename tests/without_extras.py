"""Skip what an optional dependency is missing for: `pytest -p without_extras`.

`make pythons` uses it: on a new Python, PyTorch, spaCy or Ray may have no build yet. Elsewhere
a missing dependency is a failure.
"""

from collections.abc import Generator

import pytest

OPTIONAL = {
    *("torch", "onnx", "onnxscript", "safetensors", "transformers", "tokenizers", "triton"),
    *("spacy", "pandas", "pyarrow", "fsspec", "ray", "duckdb", "resvg_py"),
    *("starlette", "uvicorn", "httptools", "uvloop", "prometheus_client", "python_multipart"),
    *("httpx", "mpmath", "networkx", "schemathesis", "playwright", "udtools", "ufal", "hatchling"),
}
"""Modules of the extras and of the tests."""


def missing_module(error: BaseException | None) -> str | None:
    """Name the optional module that this error, or what it was raised from, lacks."""
    while error is not None:
        name = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ImportError) and name in OPTIONAL:
            return name
        error = error.__cause__ or error.__context__
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    name = missing_module(call.excinfo.value) if call.excinfo and report.failed else None
    if name:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, f"needs {name}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    text = str(report.longrepr) if report.failed else ""
    name = next((one for one in OPTIONAL if f"No module named '{one}" in text), None)
    if name:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"needs {name}")
    return report
