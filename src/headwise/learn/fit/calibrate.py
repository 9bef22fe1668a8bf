"""Probabilities that can be believed: scores are divided by a temperature that dev asks for.

It goes into v_a of Eq. 6, so that a model is as fast and as large as before; its trees stay.
"""

from collections.abc import Generator
from dataclasses import dataclass

from headwise.errors import ConfigError
from headwise.evaluate.confidence import HeadScores
from headwise.learn.fit.phases import Run
from headwise.learn.scorer import TorchScorer
from headwise.settings.recipe import Recipe


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """What the scores were divided by, and the calibration error on dev, in points."""

    temperature: float
    error_before: float
    error: float


def check_calibration(recipe: Recipe) -> None:
    """Refuse to calibrate where trees are made of sums of probabilities: they would change."""
    if recipe.train.calibrate and recipe.decode.weights == "probability":
        raise ConfigError(
            'train.calibrate would change trees with decode.weights = "probability"',
            "leave one of the two out",
        )


def calibrate(state: Run) -> Generator[CalibrationReport, None, dict[str, float]]:
    """Calibrate the network that is kept, where the recipe asks for it; give the scores to keep."""
    if not state.recipe.train.calibrate:
        return {}
    dev = state.data.dev
    selections = TorchScorer(state.kept, state.data.vocab, state.device.where).select_encoded(
        dev.encoded
    )
    told = HeadScores([one.head_log_probs for one in selections], [one.heads for one in dev.gold])
    temperature = told.temperature()
    report = CalibrationReport(temperature, told.error(), told.error(temperature))
    state.kept.select.divide_scores(temperature)
    yield report
    return {"temperature": temperature, "dev_calibration_error": report.error}
