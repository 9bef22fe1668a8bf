"""Check branch coverage: at least 96% in `network/` and `learn/`, and at least 96% elsewhere."""

import json
import sys
from pathlib import Path

MIN_PERCENT = {"in network/ and learn/": 96.0, "elsewhere": 96.0}


def main(report_path: str) -> int:
    counts = {part: [0, 0] for part in MIN_PERCENT}
    for name, entry in json.loads(Path(report_path).read_text())["files"].items():
        is_torch = "/learn/" in name or "/network/" in name
        covered_and_total = counts["in network/ and learn/" if is_torch else "elsewhere"]
        summary = entry["summary"]
        covered_and_total[0] += summary["covered_lines"] + summary["covered_branches"]
        covered_and_total[1] += summary["num_statements"] + summary["num_branches"]
    is_too_low = False
    for part, (covered, total) in counts.items():
        percent = 100 * covered / total
        is_too_low |= percent < MIN_PERCENT[part]
        sys.stdout.write(f"coverage {part}: {percent:.1f}% (minimum {MIN_PERCENT[part]:.0f}%)\n")
    return int(is_too_low)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
