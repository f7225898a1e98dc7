"""The Ruby client: what is rendered is clean, and says what the model file says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from generation.ruby.commands import evaluate, ruby
from polybake.base.modelfile.container import read_head
from support.clients.hostile import CONTRACTS
from support.clients.rendered import NAMES, OUTPUTS, run, write

pytestmark = pytest.mark.ruby


def test_every_render_is_clean(client: Path, gems: str, every_feed: Path, tmp_path: Path) -> None:
    """Standard Ruby finds nothing to change, whatever the name, the prompts and the dtype."""
    for name in NAMES:
        for kind, contract in CONTRACTS.items():
            write("ruby", tmp_path / f"{name}-{kind}", every_feed, name=name, contract=contract)
    for kind, output in OUTPUTS.items():
        write("ruby", tmp_path / kind, every_feed, contract={"output": output})
    printed = run(
        *("bundle", "exec", "standardrb", "--no-fix", "--format", "json", tmp_path),
        cwd=client,
        BUNDLE_PATH=gems,
    )
    summary = json.loads(printed)["summary"]
    names = {"Gemfile", "Rakefile"}
    sources = [p for p in tmp_path.rglob("*") if p.name in names or p.suffix in (".rb", ".gemspec")]
    assert summary["inspected_file_count"] == len(sources) > 12 * 15
    assert summary["offense_count"] == 0


def test_the_recipes_are_clean(client: Path, gems: str, repository: Path) -> None:
    """Standard Ruby finds nothing to change in them, either."""
    command = ("bundle", "exec", "standardrb", "--no-fix", "--format", "json")
    printed = run(*command, repository / "recipes", cwd=client, BUNDLE_PATH=gems)
    summary = json.loads(printed)["summary"]
    sources = [*(repository / "recipes").rglob("*.rb")]
    assert summary["inspected_file_count"] == len(sources) > 0
    assert summary["offense_count"] == 0


@pytest.mark.parametrize("contract", CONTRACTS, ids=list(CONTRACTS))
def test_the_contract_is_rendered_exactly(every_feed: Path, tmp_path: Path, contract: str) -> None:
    """Ruby reads from contract.rb what the manifest holds, hostile prompts included."""
    folder = write("ruby", tmp_path, every_feed, contract=CONTRACTS[contract])
    show = 'load "lib/every_feed/contract.rb"; puts EveryFeed.module_eval("CONTRACT").to_json'
    manifest = read_head(every_feed).manifest
    expected = manifest.contract.model_copy(update=CONTRACTS[contract])
    found = json.loads(run("ruby", "-w", "-rjson", "-e", show, cwd=folder))
    assert found == expected.model_dump(mode="json")


def test_the_signatures_name_every_public_method(client: Path, gems: str, every_feed: Path) -> None:
    """sig/ has what the embedder and the errors have; rbs parses it where it is there."""
    show = """
    require "json"
    require "every_feed/bulk"
    require "every_feed/cuda"
    errors = EveryFeed.constants.grep(/Error/).flat_map { |name|
      EveryFeed.const_get(name).public_instance_methods(false)
    }
    embedder = [EveryFeed::Embedder, EveryFeed::Model].flat_map { |type|
      type.public_instance_methods(false)
    }
    names = embedder + errors + [:initialize, :open]
    names += EveryFeed::Bulk.singleton_methods + EveryFeed::Cuda.singleton_methods
    puts JSON.generate(names.map(&:to_s).uniq.sort)
    """
    signatures = sorted(client.glob("sig/*.rbs"))
    text = "".join(path.read_text(encoding="utf-8") for path in signatures)
    named = set(re.findall(r"(?:def (?:self\.)?|attr_reader )(\w+):", text))
    assert sorted(named) == json.loads(evaluate(client, gems, every_feed, show))
    parse = "require 'rbs'; ARGV.each { |path| RBS::Parser.parse_signature(File.read(path)) }"
    done = ruby(client, gems, "-e", parse, *signatures)
    if "cannot load such file -- rbs" not in done.stderr:
        assert done.returncode == 0, done.stderr
