"""Model calls that Inspect makes until it is clear which samples pass, with a campaign and with plain epochs.

Run where inspect-ai and Cutline are installed: python docs/evals_inspect.py [SEEDS [EPOCHS ...]]. The model is
Inspect's mock, which passes sample i in a fixed share of its answers; the same seed gives the same answers. Since they
are a function of seed, sample and number alone, the same is played for 20 seeds without Inspect between.
"""

import random
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from cutline import Campaign

SHARES = [0.05] * 8 + [0.2] * 8 + [0.45, 0.55, 0.7, 0.7, 0.9, 0.9] + [1.0] * 18
THRESHOLD = 0.8
EPOCHS = 20


def passes(seed: int, sample: int, nth: int) -> bool:
    """Return whether the n-th answer to a sample is right."""
    return random.Random(f"{seed} {sample} {nth}").random() < SHARES[sample]


def played(seed: int, epochs: int) -> tuple[int, int]:
    """Return how many samples are called wrongly by plain epochs and by a campaign, without Inspect between."""
    ids = [str(number) for number in range(len(SHARES))]
    plain = [sum(passes(seed, i, nth) for nth in range(1, epochs + 1)) / epochs for i in range(len(SHARES))]
    times = [0] * len(SHARES)

    def measure(pull: Any) -> bool:
        times[int(pull.arm)] += 1
        return passes(seed, int(pull.arm), times[int(pull.arm)])

    with Campaign.create(None, "eval", ids, THRESHOLD, "LSA", epochs * len(ids), seed=seed) as campaign:
        campaign.run(measure)
        return wrong(plain), wrong([item.mean for item in campaign.decisions()])


def answers(seed: int) -> Any:
    """Return a mock model: its n-th answer to a sample depends on the seed, the sample and n alone."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    times = [0] * len(SHARES)

    def answer(messages: list[Any], *_: Any) -> Any:
        sample = int(messages[-1].text)
        times[sample] += 1
        output = ModelOutput.from_content("mockllm/model", "yes" if passes(seed, sample, times[sample]) else "no")
        output.usage = ModelUsage()  # else the model counts words, with a table from the network
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False), times


def wrong(means: Sequence[float | None]) -> int:
    """Return how many samples are on the other side of the threshold than their share."""
    return sum(
        (mean is not None and mean >= THRESHOLD) != (share >= THRESHOLD)
        for mean, share in zip(means, SHARES, strict=True)
    )


def run(dataset: Any, seed: int, epochs: int) -> tuple[int, list[float]]:
    """Run the eval; return how often the model was called, and each sample's mean score."""
    from inspect_ai import Task, eval
    from inspect_ai.scorer import includes

    model, times = answers(seed)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        task = Task(dataset=dataset, scorer=includes(), epochs=epochs)
        (log,) = eval(task, model=model, log_dir=folder, display="none", max_samples=1)
        assert log.status == "success", log.error
        for sample in log.samples:
            found.setdefault(str(sample.id), []).append(float(sample.scores["includes"].value == "C"))
    return sum(times), [sum(found[str(i)]) / len(found[str(i)]) for i in range(len(SHARES))]


def main() -> None:
    """Print a line for each budget."""
    from inspect_ai.dataset import Sample

    from cutline.integrations.inspect_ai import campaign_samples

    samples = [Sample(id=str(i), input=str(i), target="yes") for i in range(len(SHARES))]
    ids = [str(i) for i in range(len(SHARES))]
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    for epochs in map(int, sys.argv[2:] or ("2", "4")):
        both = [played(seed, epochs) for seed in range(20)]
        means = [sum(errors) / len(both) for errors in zip(*both, strict=True)]
        print(f"{epochs * len(ids)} calls, 20 seeds without Inspect: plain {means[0]:.2f}, a campaign {means[1]:.2f}")
        plain = [run(samples, seed, epochs) for seed in seeds]
        driven: list[tuple[int, list[float | None]]] = []
        for seed in seeds:
            with Campaign.create(None, "eval", ids, THRESHOLD, "LSA", epochs * len(ids), seed=seed) as campaign:
                calls, _ = run(campaign_samples(campaign, samples, at_once=1), seed, 1)
                driven.append((calls, [item.mean for item in campaign.decisions()]))
        errors = [sum(wrong(means) for _, means in runs) / len(seeds) for runs in (plain, driven)]
        print(
            f"{plain[0][0]} calls: plain epochs {errors[0]:.2f} wrong, a campaign {errors[1]:.2f} wrong; {driven[0][0]}"
        )


if __name__ == "__main__":
    main()
