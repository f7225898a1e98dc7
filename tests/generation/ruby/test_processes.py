"""The Ruby client beside other threads, in forked workers and in a daemon."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from generation.ruby.commands import SECONDS, evaluate
from support.clients.readme import blocks

pytestmark = pytest.mark.ruby


def test_a_server_that_forks_its_workers_after_loading(
    client: Path, gems: str, every_feed: Path
) -> None:
    """The README's constant, as under Puma's preload_app!: each worker answers and ends."""
    script = f"""
    require "socket"
    def run(app)
    end
    {blocks(client, "ruby", every_feed)[2]}
    expected = EMBEDDER.embed_query("a")
    server = TCPServer.new("127.0.0.1", 0)
    workers = Array.new(2) do
      fork do
        loop do
          connection = server.accept
          text = connection.gets.chomp
          connection.puts(JSON.generate([Process.pid, EMBEDDER.embed_query(text)]))
          connection.close
        end
      end
    end
    # A worker serves one connection at a time, so two at once reach both.
    served = Array.new(2) do
      connections = Array.new(2) {{ TCPSocket.new("127.0.0.1", server.addr[1]) }}
      connections.each {{ |connection| connection.puts("a") }}
      connections.map {{ |connection| JSON.parse(connection.gets) }}
    end.flatten(1)
    workers.each {{ |pid| Process.kill(:TERM, pid) }}
    signals = workers.map {{ |pid| Process.wait2(pid).last.termsig }}
    puts JSON.generate([served.map(&:first).uniq.sort == workers.sort,
      served.map(&:last).uniq == [expected], signals])
    """
    printed = evaluate(client, gems, every_feed, script)
    assert json.loads(printed) == [True, True, [15, 15]]


def test_a_daemon_uses_it_and_ends(
    client: Path, gems: str, every_feed: Path, tmp_path: Path
) -> None:
    """After Process.daemon the embedder goes on, from another folder, and the daemon ends."""
    said = tmp_path / "said"
    script = """
    require "json"
    embedder = EveryFeed::Embedder.new(File.basename(ENV.fetch("MODEL")))
    expected = embedder.embed(["a"])
    Process.daemon
    found = embedder.embed(["a"]) == expected
    File.write(ENV.fetch("SAID") + ".part", JSON.generate([Process.pid, found, Dir.pwd]))
    File.rename(ENV.fetch("SAID") + ".part", ENV.fetch("SAID"))
    """
    script = 'Dir.chdir(File.dirname(ENV.fetch("MODEL")))\n' + script
    evaluate(client, gems, every_feed, script, SAID=str(said))
    deadline = time.monotonic() + SECONDS
    while not said.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process, found, folder = json.loads(said.read_text())
    assert (found, folder) == (True, "/")
    status = Path(f"/proc/{process}/stat")
    while time.monotonic() < deadline:
        # A zombie has ended, where nobody waits for it.
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    os.kill(process, 9)
    pytest.fail("the daemon does not end")


def test_long_texts_let_other_threads_go_on(client: Path, gems: str, every_feed: Path) -> None:
    """Ruby's lock is free while the tokenizer works."""
    script = """
    embedder = EveryFeed::Embedder.new(ENV.fetch("MODEL"))
    ticks = 0
    Thread.new { loop { sleep 0.005; ticks += 1 } }
    sleep 0.05
    before = ticks
    embedder.tokenize(["a b c d e f g h " * 200_000])
    puts ticks - before
    """
    assert int(evaluate(client, gems, every_feed, script)) > 10
