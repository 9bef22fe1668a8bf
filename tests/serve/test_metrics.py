import re
from pathlib import Path

from headwise.serve.metrics import Metrics, resident_bytes
from headwise.serve.queue import Load, Turn

LINE = re.compile(r'[a-z_]+(\{([a-z]+="[^"]*",?)+\})? -?[0-9.e+]+')


def test_the_text_is_what_prometheus_reads() -> None:
    counted = Metrics(("/parse",))
    counted.count("/parse", 200, 0.03)
    counted.count("/parse", 429, 99.0)
    for path in ("/a", '/"b"\n', "/c"):
        counted.count(path, 404, 0.001)
    text = counted.as_text(Load(1, 20, Turn(3, 60, 2)))
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line), line
    assert 'headwise_requests_total{path="/parse",status="429"} 1' in text
    assert 'headwise_requests_total{path="other",status="404"} 3' in text
    assert 'headwise_request_seconds_bucket{path="/parse",le="0.05"} 1' in text
    assert 'headwise_request_seconds_bucket{path="/parse",le="30"} 1' in text
    assert 'headwise_request_seconds_bucket{path="/parse",le="+Inf"} 2' in text
    assert "headwise_words_total 60" in text
    assert counted.n_answered == 5


def test_memory_is_told_where_it_is_known() -> None:
    assert resident_bytes() > 10**6
    assert resident_bytes(Path("nowhere")) == 0
