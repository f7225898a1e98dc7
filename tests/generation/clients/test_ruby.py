"""What only Ruby has: a lock, forks, and signatures."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from generation.clients.conftest import alone
from support.clients.rendered import blocks, run, write
from support.clients.ruby import Ruby

pytestmark = alone("ruby")


@pytest.mark.minilm
@pytest.mark.parametrize(
    "call", ['tokenize(["a b c d e f g h " * 200_000])', 'embed(["a b c d e f g h " * 40] * 8)']
)
def test_other_threads_go_on(
    toolchain: Ruby, baked_minilm: Path, tmp_path: Path, call: str
) -> None:
    """Ruby's lock is free while the tokenizer works, and while the graph runs."""
    folder = write("ruby", tmp_path / "client", baked_minilm)
    script = f"""
    embedder = AllMinilmL6V2::Embedder.new(ENV.fetch("MODEL"), concurrency: 1)
    ticks = 0
    Thread.new {{ loop {{ sleep 0.005; ticks += 1 }} }}
    sleep 0.05
    before = ticks
    embedder.{call}
    puts ticks - before
    """
    assert int(toolchain.evaluate(folder, baked_minilm, script)) > 10


@pytest.mark.minilm
def test_an_open_embedder_keeps_no_part_of_the_head(
    toolchain: Ruby, baked_minilm: Path, tmp_path: Path
) -> None:
    """Neither the tokenizer's JSON nor the golden cases outlive the opening."""
    folder = write("ruby", tmp_path / "client", baked_minilm)
    script = """
    embedder = AllMinilmL6V2::Embedder.new(ENV.fetch("MODEL"))
    embedder.embed(["a"])
    GC.start
    puts ObjectSpace.each_object(String).map(&:bytesize).max
    """
    assert int(toolchain.evaluate(folder, baked_minilm, script)) < 100_000


def test_the_readme_works_in_an_empty_project(
    toolchain: Ruby, every_feed: Path, tmp_path: Path
) -> None:
    """Its line of a Gemfile, its three lines and its stream do what they say."""
    client = write("ruby", tmp_path / "clients/ruby", every_feed)
    gem, three_lines, stream = blocks(client, "ruby", every_feed)
    project = tmp_path / "an empty project"
    project.mkdir()
    source = (client / "Gemfile").read_text().splitlines()[0]
    gemfile = f"{source}\n\n{gem}".replace("clients/ruby", str(client))
    (project / "Gemfile").write_text(gemfile)
    run("bundle", "install", "--quiet", cwd=project, **toolchain.bundle)
    command = ("bundle", "exec", "ruby", "-w", "-e")
    assert run(*command, three_lines, cwd=project, **toolchain.bundle) == "7\n"
    texts = ["The cat sleeps on the sofa.", "Interest rates rise again."]
    (project / "texts.txt").write_text("".join(f"{text}\n" for text in texts))
    assert len(run(*command, stream, cwd=project, **toolchain.bundle).splitlines()) == len(texts)


def test_the_gem_holds_what_it_needs(
    toolchain: Ruby, client: Path, every_feed: Path, tmp_path: Path
) -> None:
    """Built and installed in an empty project it runs; no public server would take it."""
    cache = tmp_path / "vendor/cache"  # where Bundler looks first
    cache.mkdir(parents=True)
    built = cache / "every_feed-0.1.0.gem"
    run("gem", "build", "every_feed.gemspec", "--output", built, cwd=client)
    source = (client / "Gemfile").read_text().splitlines()[0]
    (tmp_path / "Gemfile").write_text(f'{source}\n\ngem "every_feed"\n')
    bundle = {"BUNDLE_PATH": str(tmp_path / "gems")}  # of its own, or the gem stayed for others
    shutil.copytree(toolchain.packages / "gems", tmp_path / "gems", symlinks=True)
    run("bundle", "install", "--quiet", cwd=tmp_path, **bundle)
    command = ("bundle", "exec", "ruby", "-w", "-e")
    three_lines = blocks(client, "ruby", every_feed)[1]
    assert run(*command, three_lines, cwd=tmp_path, **bundle) == "7\n"
    show = """
    spec = Gem.loaded_specs["every_feed"]
    puts spec.version, spec.license, spec.metadata, Dir.glob("**/*", base: spec.full_gem_path)
    """
    printed = run(*command, show, cwd=tmp_path, **bundle)
    assert printed.startswith('0.1.0\nApache-2.0\n{"allowed_push_host"=>"none"}\n')
    assert "sig/every_feed.rbs" in printed


def test_the_signatures_name_every_public_method(
    toolchain: Ruby, client: Path, every_feed: Path
) -> None:
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
    assert sorted(named) == json.loads(toolchain.evaluate(client, every_feed, show))
    parse = "require 'rbs'; ARGV.each { |path| RBS::Parser.parse_signature(File.read(path)) }"
    done = toolchain.ruby(client, "-e", parse, *signatures)
    if "cannot load such file -- rbs" not in done.stderr:
        assert done.returncode == 0, done.stderr
