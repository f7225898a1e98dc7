"""The Ruby client: clean, packaged, installed elsewhere, and run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from support.clients.conversation import STOP, Message, ask, start
from support.clients.heads import check_heads, write_heads_client
from support.clients.hostile import CONTRACTS
from support.clients.planted import Fault, faults
from support.clients.rendered import (
    NAMES,
    OUTPUTS,
    RETURNS_MEMORY,
    check_task,
    run,
    write,
)
from support.processes.fresh_home import run_cut_off, run_silently

pytestmark = pytest.mark.ruby

#: For what must end: a hang is what these tests look for.
SECONDS = 300

MODELS = ["every_feed", "every_feed_left", "every_feed_int8", "every_feed_bits"]


@pytest.fixture(scope="module")
def gems(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for gems that all bundles of these tests share."""
    return str(tmp_path_factory.mktemp("gems"))


@pytest.fixture(scope="module")
def client(gems: str, every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of the model that takes every feed, its gems installed."""
    folder = write("ruby", tmp_path_factory.mktemp("client"), every_feed)
    run("bundle", "install", "--quiet", cwd=folder, BUNDLE_PATH=gems)
    return folder


def settings(gems: str) -> dict[str, str]:
    """What Ruby is told of its gems and its texts."""
    (gem_path,) = Path(gems).glob("ruby/*")
    return {"LANG": "C.UTF-8", "GEM_PATH": str(gem_path)}


def ruby(
    client: Path,
    gems: str,
    *arguments: str | Path,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    """Run Ruby with the client and its gems, and with nothing else of this environment."""
    return subprocess.run(
        [str(part) for part in ("ruby", "-I", client / "lib", *arguments)],
        cwd=client,
        env={"PATH": os.environ["PATH"], **settings(gems)} | more,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def evaluate(client: Path, gems: str, model: Path, script: str, **more: str) -> str:
    """What a script printed that must succeed; ``MODEL`` is the model's path."""
    name = client.joinpath("lib").glob("*.rb").__next__().stem
    done = ruby(client, gems, "-w", "-r", name, "-e", script, MODEL=str(model), **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def blocks(client: Path, model: Path) -> list[str]:
    """The Ruby code of the client's README, with the model's path put in."""
    readme = (client / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"```ruby\n(.*?)```", readme, re.DOTALL)
    return [block.replace(f"{model.stem}.onnx", str(model)) for block in found]


#: Tests of what depends on the model; the others are run with one model alone.
OF_VECTORS = "{embedder,feeds,self_check}"


def own_tests(
    folder: Path, model: Path, gems: str, names: str = "*"
) -> subprocess.CompletedProcess[str]:
    """Run the client's own tests, as its Rakefile does, or those of these names."""
    script = f'Dir["test/**/{names}_test.rb"].each {{ |path| require "./#{{path}}" }}'
    return ruby(folder, gems, "-w", "-e", script, POLYBAKE_MODEL=str(model))


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


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("model", MODELS)
def test_its_own_tests_pass(
    gems: str, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests pass with every feed, with padding on either side, and quantized."""
    path: Path = request.getfixturevalue(model)
    names, least = ("*", 90) if model == MODELS[0] else (OF_VECTORS, 12)
    done = own_tests(write("ruby", tmp_path, path), path, gems, names)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"\b(\d+) runs, .* 0 failures, 0 errors, 0 skips", done.stdout)
    assert found, done.stdout
    assert int(found[1]) >= least


def test_a_client_without_parts(client: Path, gems: str, every_feed: Path, tmp_path: Path) -> None:
    """The core is clean, and passes its own tests by itself."""
    folder = write("ruby", tmp_path / "client", every_feed, parts=())
    assert not list(folder.rglob("bulk*"))
    run("bundle", "exec", "standardrb", "--no-fix", folder, cwd=client, BUNDLE_PATH=gems)
    done = own_tests(folder, every_feed, gems)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d\d+ runs, .* 0 failures, 0 errors, 0 skips", done.stdout), done.stdout


def test_weights_beside_the_graph(
    client: Path, gems: str, every_feed_beside: Path, tmp_path: Path
) -> None:
    """The client of such a file is clean, and its tests of files and of vectors pass."""
    folder = write("ruby", tmp_path / "client", every_feed_beside)
    run("bundle", "exec", "standardrb", "--no-fix", folder, cwd=client, BUNDLE_PATH=gems)
    done = own_tests(folder, every_feed_beside, gems, "{model_file,self_check,embedder}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d\d runs, .* 0 failures, 0 errors, 0 skips", done.stdout), done.stdout


@pytest.mark.parametrize("task", TASK_MODELS)
def test_each_task_has_its_client(client: Path, gems: str, task: str, tmp_path: Path) -> None:
    """It is clean, passes its own tests, and reproduces vectors and answers."""
    model = TASK_MODELS[task](tmp_path / f"tiny-{task}.onnx")
    folder = write("ruby", tmp_path / "client", model)
    run("bundle", "exec", "standardrb", "--no-fix", folder, cwd=client, BUNDLE_PATH=gems)
    done = own_tests(folder, model, gems)
    assert done.returncode == 0, done.stdout + done.stderr
    evaluate(folder, gems, model, blocks(folder, model)[1])
    (folder / "vendor").mkdir()
    (folder / "vendor/bundle").symlink_to(gems)
    run("bundle", "install", "--quiet", cwd=folder, BUNDLE_PATH=gems)
    check_task(model, folder)


@pytest.mark.planted
@pytest.mark.usefixtures("client")
@faults("ruby")
def test_its_own_tests_catch(
    fault: Fault, gems: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The client's tests run to their end and fail when a fault is planted into it."""
    model: Path = request.getfixturevalue(fault.model)
    folder = write("ruby", tmp_path, model)
    fault.plant(folder)
    done = own_tests(folder, model, gems)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"\b[1-9]\d* (failures|errors)", done.stdout), done.stdout + done.stderr


def test_its_tests_run_with_rake_and_need_a_model(
    client: Path, gems: str, every_feed: Path
) -> None:
    """With POLYBAKE_MODEL they pass; without, they fail and say what to set."""
    command = ("bundle", "exec", "rake", "test")
    run(*command, cwd=client, BUNDLE_PATH=gems, POLYBAKE_MODEL=str(every_feed))
    environment = {key: value for key, value in os.environ.items() if key != "POLYBAKE_MODEL"}
    done = subprocess.run(
        command,
        cwd=client,
        env=environment | {"BUNDLE_PATH": gems},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set POLYBAKE_MODEL to the path of the baked .onnx file" in done.stderr


@pytest.mark.usefixtures("client")
def test_hostile_prompts_stay_text(gems: str, tmp_path: Path) -> None:
    """A client for a model with hostile prompts passes its own tests."""
    model = write_every_feed_model(tmp_path / "m.onnx", **CONTRACTS["hostile"])
    done = own_tests(write("ruby", tmp_path / "client", model), model, gems, OF_VECTORS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("beside", [False, True])
def test_damaged_heads_are_refused_in_the_same_words(
    gems: str, beside: bool, tmp_path: Path
) -> None:
    """The client says of every file of fixtures/heads what each reader must say."""
    client = write_heads_client("ruby", tmp_path / "client", beside=beside)
    (client / "vendor").mkdir()
    (client / "vendor/bundle").symlink_to(gems)
    run("bundle", "install", "--quiet", cwd=client, BUNDLE_PATH=gems)
    check_heads(client, tmp_path, beside=beside)


def test_the_harness_speaks_the_protocol(client: Path, gems: str, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that Ruby's JSON parser refuses."""
    requests: list[Message] = [
        start(every_feed),
        {"cmd": "tokenize", "texts": ["a", "\U0001f469 \\ud800"], "prompt": None},
        {"cmd": "embed", "texts": ["a", "b \ud800"], "prompt": None},
        {"cmd": "embed", "texts": ["a"], "prompt": "é"},
        {"cmd": "dance"},
        start(every_feed),
        {"cmd": "self_check"},
        STOP,
    ]
    started, tokens, invalid, unknown, skipped, again, checked, stopped = ask(
        client, *requests, BUNDLE_PATH=gems, LC_ALL="C"
    )
    assert started["results"]["provider"]["active"] == "CPUExecutionProvider"
    assert started["results"]["client"]["language"] == "ruby"
    assert len(tokens["results"]) == 2
    assert (invalid["kind"], invalid["index"]) == ("invalid_text", 1)
    assert unknown["kind"] == "unknown_prompt"
    assert unknown["message"] == 'unknown prompt "é"; choose one of: query, document'
    assert skipped["skipped"]
    assert again["results"] == started["results"]
    assert 0 <= checked["results"] < 1e-5
    assert stopped == {"seq": 7, "results": None}


@pytest.mark.parametrize("model", ["every_feed", "every_feed_bits"])
def test_the_readme_works_in_an_empty_project(
    gems: str, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Its line of a Gemfile, its three lines, its service and its stream do what they say."""
    path: Path = request.getfixturevalue(model)
    client = write("ruby", tmp_path / "clients/ruby", path)
    gem, three_lines, served, *search, stream = blocks(client, path)
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
    three_lines = blocks(client, every_feed)[1]
    assert run(*command, three_lines, cwd=tmp_path, BUNDLE_PATH=gems) == "7\n"
    show = """
    spec = Gem.loaded_specs["every_feed"]
    puts spec.version, spec.license, spec.metadata, Dir.glob("**/*", base: spec.full_gem_path)
    """
    printed = run(*command, show, cwd=tmp_path, BUNDLE_PATH=gems)
    assert printed.startswith('0.1.0\nApache-2.0\n{"allowed_push_host"=>"none"}\n')
    assert "sig/every_feed.rbs" in printed


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


@pytest.mark.parametrize(("wish", "left"), [({}, False), ({"ORT_DISABLE_TELEMETRY": "0"}, True)])
def test_nothing_leaves_the_machine_unless_it_is_wished(
    client: Path, gems: str, every_feed: Path, tmp_path: Path, wish: dict[str, str], *, left: bool
) -> None:
    """Opening, embedding and ending leave an empty home empty, and look up no name."""
    home = tmp_path / "home"
    run = run_cut_off if left else run_silently
    script = 'EveryFeed::Embedder.open(ENV.fetch("MODEL")) { |embedder| embedder.embed(["a"]) }'
    command = ("ruby", "-I", "lib", "-w", "-r", "every_feed", "-e", script)
    more = settings(gems) | {"MODEL": str(every_feed)} | wish
    assert run(home, *command, cwd=client, **more) == ""
    assert any(home.iterdir()) == left


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


def test_a_server_that_forks_its_workers_after_loading(
    client: Path, gems: str, every_feed: Path
) -> None:
    """The README's constant, as under Puma's preload_app!: each worker answers and ends."""
    script = f"""
    require "socket"
    def run(app)
    end
    {blocks(client, every_feed)[2]}
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
