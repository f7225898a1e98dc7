"""What the Ruby client keeps in memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generation.ruby.commands import evaluate
from support.clients.rendered import RETURNS_MEMORY, write

pytestmark = pytest.mark.ruby


@pytest.mark.minilm
@pytest.mark.usefixtures("client")
def test_close_gives_memory_back(gems: str, baked_minilm: Path, tmp_path: Path) -> None:
    """Ten embedders, one after the other, leave what one leaves."""
    folder = write("ruby", tmp_path / "client", baked_minilm)
    script = """
    left = Array.new(10) do
      AllMinilmL6V2::Embedder.open(ENV.fetch("MODEL")) { |embedder| embedder.embed(["a", "b c"]) }
      File.read("/proc/self/status")[/VmRSS:\\s+(\\d+)/, 1].to_i
    end
    puts left.inspect
    """
    left = json.loads(evaluate(folder, gems, baked_minilm, script, **RETURNS_MEMORY))
    assert max(left) < 1.3 * left[0]


def test_a_stream_of_many_texts_needs_no_more_memory(
    client: Path, gems: str, every_feed: Path
) -> None:
    """After 400,000 texts the process has what it had after 100,000; the vectors are 30 MB."""
    script = """
    require "every_feed/bulk"
    embedder = EveryFeed::Embedder.new(ENV.fetch("MODEL"))
    resident = []
    texts = (1..400_000).lazy.map { |number| "text #{number}" }
    vectors = EveryFeed::Bulk.map(texts) { |window| embedder.embed(window) }
    vectors.each.with_index(1) do |_, done|
      next unless [100_000, 400_000].include?(done)
      resident << File.read("/proc/self/status")[/VmRSS:\\s+(\\d+)/, 1].to_i
    end
    puts resident.inspect
    """
    before, after = json.loads(evaluate(client, gems, every_feed, script))
    assert after < 1.15 * before


@pytest.mark.minilm
@pytest.mark.usefixtures("client")
def test_an_open_embedder_keeps_no_part_of_the_head(
    gems: str, baked_minilm: Path, tmp_path: Path
) -> None:
    """Neither the tokenizer's JSON nor the golden cases outlive the opening."""
    folder = write("ruby", tmp_path / "client", baked_minilm)
    script = """
    embedder = AllMinilmL6V2::Embedder.new(ENV.fetch("MODEL"))
    embedder.embed(["a"])
    GC.start
    puts ObjectSpace.each_object(String).map(&:bytesize).max
    """
    assert int(evaluate(folder, gems, baked_minilm, script)) < 100_000
