"""The Ruby client in a project of its own, and the gems and the library that it needs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from generation.ruby.commands import evaluate, settings
from support.clients.readme import blocks
from support.clients.rendered import run, write
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.ruby


@pytest.mark.parametrize("model", ["every_feed", "every_feed_bits"])
def test_the_readme_works_in_an_empty_project(
    gems: str, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Its line of a Gemfile, its three lines, its service and its stream do what they say."""
    path: Path = request.getfixturevalue(model)
    client = write("ruby", tmp_path / "clients/ruby", path)
    gem, three_lines, served, *search, stream = blocks(client, "ruby", path)
    project = tmp_path / "an empty project"
    project.mkdir()
    source = (client / "Gemfile").read_text().splitlines()[0]
    gemfile = f"{source}\n\n{gem}".replace("clients/ruby", str(client))
    (project / "Gemfile").write_text(gemfile)
    run("bundle", "install", "--quiet", cwd=project, BUNDLE_PATH=gems)
    command = ("bundle", "exec", "ruby", "-w", "-e")
    assert run(*command, three_lines, cwd=project, BUNDLE_PATH=gems) == "7\n"
    texts = ["The cat sleeps on the sofa.", "Interest rates rise again."]
    body = json.dumps(json.dumps(texts))
    asked = f"""
    require "stringio"
    def run(app)
      @app = app
    end
    {served}
    status, _, body = @app.call({{"rack.input" => StringIO.new({body})}})
    p status, JSON.parse(body.first).map(&:size)
    """
    assert run(*command, asked, cwd=project, BUNDLE_PATH=gems) == "200\n[7, 7]\n"
    for nearest in search:
        assert run(*command, nearest, cwd=project, BUNDLE_PATH=gems).strip() in texts
    (project / "texts.txt").write_text("".join(f"{text}\n" for text in texts))
    assert len(run(*command, stream, cwd=project, BUNDLE_PATH=gems).splitlines()) == len(texts)


def test_the_gem_holds_what_it_needs(
    client: Path, gems: str, every_feed: Path, tmp_path: Path
) -> None:
    """Built and installed in an empty project it runs; no public server would take it."""
    cache = tmp_path / "vendor/cache"  # where Bundler looks first
    cache.mkdir(parents=True)
    built = cache / "every_feed-0.1.0.gem"
    run("gem", "build", "every_feed.gemspec", "--output", built, cwd=client)
    source = (client / "Gemfile").read_text().splitlines()[0]
    (tmp_path / "Gemfile").write_text(f'{source}\n\ngem "every_feed"\n')
    run("bundle", "install", "--quiet", cwd=tmp_path, BUNDLE_PATH=gems)
    command = ("bundle", "exec", "ruby", "-w", "-e")
    three_lines = blocks(client, "ruby", every_feed)[1]
    assert run(*command, three_lines, cwd=tmp_path, BUNDLE_PATH=gems) == "7\n"
    show = """
    spec = Gem.loaded_specs["every_feed"]
    puts spec.version, spec.license, spec.metadata, Dir.glob("**/*", base: spec.full_gem_path)
    """
    printed = run(*command, show, cwd=tmp_path, BUNDLE_PATH=gems)
    assert printed.startswith('0.1.0\nApache-2.0\n{"allowed_push_host"=>"none"}\n')
    assert "sig/every_feed.rbs" in printed


def test_a_gem_of_another_form_is_refused(client: Path, gems: str, every_feed: Path) -> None:
    """Where the private parts of onnxruntime are not what they were, opening fails and says so."""
    script = """
    OnnxRuntime::InferenceSession.prepend(Module.new do
      def initialize(...)
        super
        @other = remove_instance_variable(:@session)
      end
    end)
    begin
      EveryFeed::Embedder.new(ENV.fetch("MODEL"))
    rescue EveryFeed::Error => error
      puts error.message
    end
    """
    expected = r"onnxruntime 0\.11\.\d+ has another form than this client knows; .*\n"
    assert re.fullmatch(expected, evaluate(client, gems, every_feed, script))


def test_a_library_that_is_not_there(client: Path, gems: str, every_feed: Path) -> None:
    """A wrong OnnxRuntime.ffi_lib is the client's own error, with the cause."""
    script = """
    OnnxRuntime.ffi_lib = "/no/libonnxruntime.so"
    begin
      EveryFeed::Embedder.new(ENV.fetch("MODEL"))
    rescue EveryFeed::DeviceError => error
      puts error.message, error.cause.class
    end
    """
    printed = evaluate(client, gems, every_feed, script)
    assert printed.startswith("ONNX Runtime cannot be loaded (Could not open library")
    assert printed.endswith("correct OnnxRuntime.ffi_lib\nLoadError\n")


@pytest.mark.parametrize(("wish", "left"), [({}, False), ({"ORT_DISABLE_TELEMETRY": "0"}, True)])
def test_nothing_leaves_the_machine_unless_it_is_wished(
    client: Path,
    gems: str,
    every_feed: Path,
    tmp_path: Path,
    wish: dict[str, str],
    *,
    left: bool,
) -> None:
    """Opening, embedding and ending leave an empty home empty, and look up no name."""
    home = tmp_path / "home"
    run = run_cut_off if left else run_silently
    script = 'EveryFeed::Embedder.open(ENV.fetch("MODEL")) { |embedder| embedder.embed(["a"]) }'
    command = ("ruby", "-I", "lib", "-w", "-r", "every_feed", "-e", script)
    more = settings(gems) | {"MODEL": str(every_feed)} | wish
    assert run(home, *command, cwd=client, **more) == ""
    assert any(home.iterdir()) == left
