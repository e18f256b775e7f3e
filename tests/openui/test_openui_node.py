"""The parser against the real lang-core, run by Node.js, on programs nobody wrote."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from node_env import node_packages
from openui_generate import Generator
from openui_truths import TRUTHS, canonical, plain, shape

from runbook_lib.openui import StreamingParser, parse

pytestmark = pytest.mark.node
SCRIPT = Path(__file__).with_name("lang_core.mjs")
PROGRAMS = 6_000
STREAMS = 300


def lang_core(requests):
    """What lang-core answers to each request."""
    command = ["node", str(SCRIPT), str(node_packages()), str(TRUTHS)]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENUI_")}
    done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=300, check=True, env=environment)
    return [json.loads(line) for line in done.stdout.decode("utf-8").split("\n") if line]


def differences(expected, got):
    return [key for key in expected if canonical(plain(expected[key])) != canonical(got[key])]


def test_generated_programs_give_lang_cores_results():
    programs = list(Generator(seed=7).programs(PROGRAMS))
    truths = lang_core([{"catalog": catalog, "source": source} for catalog, source in programs])
    assert len(truths) == len(programs)
    trees = errors = compared = 0
    for (catalog, source), truth in zip(programs, truths, strict=True):
        if "skipped" in truth:
            continue
        compared += 1
        got = shape(parse(source, catalog).as_dict())
        assert differences(truth, got) == [], f"{catalog}\n{source}"
        trees += truth["root"] is not None
        errors += bool(truth["meta"]["errors"])
    assert compared >= 5_000
    assert trees > PROGRAMS / 2
    assert errors > PROGRAMS / 5


def test_generated_streams_give_lang_cores_results_after_every_chunk():
    pick = random.Random(11)
    requests = []
    for catalog, source in Generator(seed=8).programs(STREAMS):
        size = pick.choice((1, 3, 7, 20, 64))
        source = source[: 30 * size]
        chunks = [source[at : at + size] for at in range(0, len(source), size)]
        requests.append({"catalog": catalog, "chunks": chunks})
    compared = 0
    for request, truth in zip(requests, lang_core(requests), strict=True):
        if "skipped" in truth:
            continue
        compared += len(truth)
        parser = StreamingParser(request["catalog"])
        for index, (chunk, expected) in enumerate(zip(request["chunks"], truth, strict=True)):
            got = shape(parser.push(chunk).as_dict())
            assert differences(expected, got) == [], (request["catalog"], request["chunks"][: index + 1])
    assert compared > 5 * STREAMS
