import os
import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from headwise.serve.metrics import METRICS_FOLDER, Metrics
from headwise.version import VERSION

COUNT = """
from headwise.serve.metrics import Metrics
metrics = Metrics(("/parse",))
metrics.count_request("/parse", 200, 0.1)
metrics.jobs.set(3)
print(metrics.expose().decode())
"""


def samples(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_can_read_the_metrics() -> None:
    metrics = Metrics(("/parse",))
    metrics.count_request("/parse", 200, 0.03)
    metrics.count_request("/parse", 429, 99.0)
    for path in ("/a", '/"b"\n', "/c"):
        metrics.count_request(path, 404, 0.001)
    metrics.words.inc(60)
    shown = samples(metrics.expose().decode())
    assert shown["headwise_requests_total", "/parse", "429"] == 1
    assert shown["headwise_requests_total", "other", "404"] == 3
    assert shown["headwise_request_seconds_bucket", "0.05", "/parse"] == 1
    assert shown["headwise_request_seconds_bucket", "+Inf", "/parse"] == 2
    assert shown["headwise_words_total",] == 60
    assert shown["process_resident_memory_bytes",] > 10**6
    assert metrics.n_answered == 5


def test_processes_add_up_and_the_gauges_of_dead_ones_are_forgotten(tmp_path: Path) -> None:
    environment = os.environ | {METRICS_FOLDER: str(tmp_path)}
    for n_processes in (1, 2):
        command = [sys.executable, "-c", COUNT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        shown = samples(done.stdout)
        assert shown["headwise_requests_total", "/parse", "200"] == n_processes
        assert shown["headwise_jobs",] == 3
        assert shown["headwise_info", VERSION] == 1
