"""Calibrated probabilities: scores are divided by a temperature that is fitted on dev.

The temperature goes into v_a of Eq. 6, so that the model stays as fast and as large as it was, and
its trees stay the same.
"""

from collections.abc import Generator

from headwise.errors import ConfigError
from headwise.evaluate.confidence import HeadScores
from headwise.learn.fit.phases import Run
from headwise.learn.fit.reports import CalibrationReport
from headwise.settings.recipe import Recipe


def check_calibration(recipe: Recipe) -> None:
    """Refuse to calibrate if trees maximise sums of probabilities: they would change."""
    if recipe.train.calibrate and recipe.decode.weights == "probability":
        raise ConfigError(
            'train.calibrate would change trees with decode.weights = "probability"',
            "leave one of the two out",
        )


def calibrate(state: Run) -> Generator[CalibrationReport, None, dict[str, float]]:
    """Calibrate the kept network if the recipe says so; return scores for the model's manifest."""
    if not state.recipe.train.calibrate:
        return {}
    dev = state.data.dev
    selections = state.scorer().select_encoded(dev.encoded)
    scores = HeadScores([one.head_log_probs for one in selections], [one.heads for one in dev.gold])
    temperature = scores.temperature()
    report = CalibrationReport(temperature, scores.error(), scores.error(temperature))
    state.kept.select.divide_scores(temperature)
    yield report
    return {"temperature": temperature, "dev_calibration_error": report.error}
