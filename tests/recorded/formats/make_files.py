"""Makes the small files in ``files/`` with the tools: python make_files.py TOOL, in an environment with it.

pytest needs pytest and pytest-reportlog; jest and promptfoo need ``npm install jest jest-junit promptfoo`` where
the variable NODE says; the others what they are called: inspect-ai, lm_eval, argilla (and requests), cleanlab,
label-studio-sdk, doccano (with marshmallow<4 and numpy<2). The files of MTurk, Toloka, Appen, Zooniverse, Prodigy and
surefire are written by hand from the documents that the readers name.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from uuid import UUID

FILES = Path(__file__).parent / "files"

SUITE = """
import pytest

class TestSum:
    @pytest.mark.parametrize("n", [1, 2])
    def test_small(self, n):
        assert n < 2

def test_passes():
    pass

@pytest.fixture
def broken():
    raise OSError("no server")

def test_error(broken):
    pass

def test_skipped():
    pytest.skip("not here")

@pytest.mark.xfail
def test_expected():
    assert False
"""

JEST = """
describe('sum', () => { test('one', () => {}); test('two', () => { throw new Error('no'); });
  test.skip('three', () => {}); });
"""

PROMPTFOO = """
prompts: ['Answer briefly: {{q}}', '{{q}}']
providers:
  - id: echo
  - id: file://flaky.js
    label: flaky
tests:
  - vars: {q: hello}
    assert: [{type: contains, value: hello}]
  - description: needs world
    vars: {q: hi}
    assert: [{type: contains, value: world}]
"""

FLAKY = """
let n = 0;
module.exports = class { id() { return 'flaky'; } async callApi(p) {
  n++; return n % 4 ? { output: n % 2 ? p + ' world' : 'nothing' } : { error: 'down' }; } };
"""

LM_EVAL = """
task: coin
dataset_path: json
dataset_kwargs: {data_files: {test: d.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - {name: loose, filter: [{function: lowercase}, {function: take_first}]}
"""

TASKS = [("good fun", ["positive", "positive"]), ("dull", ["negative", "positive"]), ("so so", ["negative"])]


def run(*command: str, folder: Path, ok: tuple[int, ...] = (0,), **variables: str) -> None:
    """Run a command; its exit status must be one of ``ok``."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **variables}, check=False)
    assert done.returncode in ok, command


def clean(file: Path, *folders: object) -> None:
    """Take the name of this machine, and where folders are on it, out of a file."""
    text = file.read_text(encoding="utf-8")
    for found in folders:
        text = text.replace(str(found), "folder").replace(Path(str(found)).name, "folder")
    file.write_text(text.replace(f'"{socket.gethostname()}"', '"host"'), encoding="utf-8")


def make_pytest(folder: Path) -> None:
    (folder / "test_suite.py").write_text(SUITE, encoding="utf-8")
    reports = [f"--junitxml={FILES / 'pytest.xml'}", f"--report-log={FILES / 'reportlog.jsonl'}"]
    (FILES / "reportlog.jsonl").unlink(missing_ok=True)
    run(sys.executable, "-m", "pytest", "--tb=line", "-p", "no:cacheprovider", *reports, folder=folder, ok=(1,))
    clean(FILES / "pytest.xml", folder)
    clean(FILES / "reportlog.jsonl", folder)


def make_jest(folder: Path) -> None:
    (folder / "sum.test.js").write_text(JEST, encoding="utf-8")
    (folder / "package.json").write_text("{}", encoding="utf-8")
    node = Path(os.environ["NODE"]) / "node_modules"
    run(
        str(node / ".bin" / "jest"), f"--reporters={node / 'jest-junit'}", folder=folder, ok=(1,),
        JEST_JUNIT_OUTPUT_FILE=str(FILES / "jest.xml"),
    )  # fmt: skip
    clean(FILES / "jest.xml", folder, node)


def make_promptfoo(folder: Path) -> None:
    (folder / "promptfooconfig.yaml").write_text(PROMPTFOO, encoding="utf-8")
    (folder / "flaky.js").write_text(FLAKY, encoding="utf-8")
    node = Path(os.environ["NODE"]) / "node_modules" / ".bin" / "promptfoo"
    options = ["--repeat", "2", "-j", "1", "--no-cache", "--no-table", "--no-write"]
    outputs = ["-o", str(FILES / "promptfoo.json"), "-o", str(FILES / "promptfoo.jsonl")]
    run(
        str(node), "eval", *options, *outputs, folder=folder, ok=(0, 100),
        PROMPTFOO_DISABLE_TELEMETRY="1", PROMPTFOO_DISABLE_UPDATE="1", PROMPTFOO_CONFIG_DIR=str(folder / "home"),
    )  # fmt: skip
    clean(FILES / "promptfoo.json", FILES, folder)


def make_lm_eval(folder: Path) -> None:
    (folder / "coin.yaml").write_text(LM_EVAL, encoding="utf-8")
    rows = [{"q": "1+1", "a": "2"}, {"q": "say", "a": "lol"}, {"q": "x", "a": "y"}]
    (folder / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [str(Path(sys.executable).parent / "lm_eval"), "--model", "dummy", "--tasks", "coin"]
    run(*command, "--include_path", ".", "--log_samples", "--output_path", "out", folder=folder, HF_HUB_OFFLINE="1")
    (found,) = folder.glob("out/*/samples_coin_*.jsonl")
    shutil.copy(found, FILES / "samples_coin.jsonl")


def make_inspect(folder: Path) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes

    samples = [Sample(id="sum", input="1+1?", target="2"), Sample(id="word", input="Say y", target="y")]
    for form in ("json", "eval"):
        outputs = [ModelOutput.from_content("mockllm/model", text) for text in ("2", "y", "3", "y")]
        for output in outputs:
            output.usage = ModelUsage()  # else the model counts words, with a table from the network
        model = get_model("mockllm/model", custom_outputs=outputs)
        task = Task(dataset=samples, scorer=includes(), epochs=2, name="mock")
        (log,) = eval(task, model=model, log_dir=str(folder), log_format=form, display="none", max_samples=1)
        shutil.copy(log.location.removeprefix("file://"), FILES / f"inspect.{form}")
    clean(FILES / "inspect.json", folder)


def make_argilla(folder: Path) -> None:
    import argilla
    from argilla.records._io import JsonIO

    users = [UUID(int=number) for number in (1, 2)]
    records = [
        argilla.Record(
            id=f"rec-{number}",
            fields={"text": text},
            responses=[
                argilla.Response("sentiment", answer, user_id=user)
                for answer, user in zip(answers, users, strict=False)
            ],
            suggestions=[argilla.Suggestion("sentiment", "positive", score=0.9)],
        )
        for number, (text, answers) in enumerate(TASKS, 1)
    ]
    JsonIO.to_json(records, folder / "argilla.json")
    shutil.copy(folder / "argilla.json", FILES)


def make_cleanlab(folder: Path) -> None:
    import pandas
    from cleanlab.multiannotator import get_majority_vote_label

    labels = {"ann": [1, 0, None, 1], "bob": [1, 1, 0, None], "cid": [0, None, 0, 1]}
    frame = pandas.DataFrame(labels, index=["e1", "e2", "e3", "e4"], dtype=float)
    print(get_majority_vote_label(frame))
    frame.to_csv(FILES / "cleanlab.csv")


def make_label_studio(folder: Path) -> None:
    from label_studio_sdk.converter import Converter

    config = (
        '<View><Text name="text" value="$text"/><Choices name="sentiment" toName="text"><Choice value="positive"/>'
        '<Choice value="negative"/></Choices></View>'
    )
    (folder / "in").mkdir()
    number = 100
    for task, (text, answers) in enumerate(TASKS, 1):
        annotations = []
        for by, answer in enumerate([*answers, "positive", "positive"], 1):
            number += 1
            value = {"from_name": "sentiment", "to_name": "text", "type": "choices", "value": {"choices": [answer]}}
            annotations.append(
                {
                    "id": number,
                    "completed_by": by,
                    "result": [] if task == 3 and by == 2 else [value],
                    "was_cancelled": task == 1 and by == 3,
                    "ground_truth": task == 2 and by == 4,
                }
            )
        row = {"id": task, "data": {"text": text}, "annotations": annotations, "drafts": [], "predictions": []}
        (folder / "in" / f"{task}.json").write_text(json.dumps(row), encoding="utf-8")
    Converter(config, str(folder)).convert_to_json(str(folder / "in"), str(folder / "out"))
    shutil.copy(folder / "out" / "result.json", FILES / "label-studio.json")


def make_doccano(folder: Path) -> None:
    import importlib.util
    import zipfile

    spec = importlib.util.find_spec("backend")
    assert spec is not None
    assert spec.submodule_search_locations
    sys.path.insert(0, spec.submodule_search_locations[0])
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings.development"}
    os.environ |= {"DATABASE_URL": f"sqlite:///{folder / 'd.sqlite3'}"}
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    settings.MEDIA_ROOT = str(folder)
    call_command("migrate", verbosity=0)
    call_command("create_roles")
    from data_export.celery_tasks import export_dataset
    from examples.models import Example
    from label_types.models import CategoryType
    from labels.models import Category
    from projects.models import Member, TextClassificationProject
    from roles.models import Role

    users = [get_user_model().objects.create(username=name) for name in ("ann", "bob")]
    project = TextClassificationProject.objects.create(
        name="p", description="d", created_by=users[0], project_type="DocumentClassification"
    )
    for user in users:
        Member.objects.get_or_create(user=user, project=project, defaults={"role": Role.objects.first()})
    kinds = {name: CategoryType.objects.create(project=project, text=name) for name in ("positive", "negative")}
    for text, answers in TASKS:
        example = Example.objects.create(project=project, text=text)
        for user, answer in zip(users, answers, strict=False):
            Category.objects.create(example=example, user=user, label=kinds[answer])
    with zipfile.ZipFile(export_dataset(project.id, "JSONL")) as archive:
        archive.extractall(FILES / "doccano")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        globals()[f"make_{sys.argv[1]}"](Path(name))
