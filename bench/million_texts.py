"""Memory of each client that embeds a stream of a million texts.

Usage: python bench/million_texts.py MODEL.onnx CLIENTS_FOLDER [TEXTS]

The clients are prepared, as by ``polybake verify --prepare``. A row has the megabytes of the
process after a tenth of the texts and after all of them, and texts a second. Use a tiny model.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

PYTHON = """
import sys, time
from {module} import Embedder
from {module}.bulk import each

def megabytes():
    return int(open("/proc/self/status").read().split("VmRSS:")[1].split()[0]) // 1000

model, count = sys.argv[1], int(sys.argv[2])
begin = time.perf_counter()
with Embedder(model) as embedder:
    texts = (f"text number {{place}}" for place in range(count))
    for done, _ in enumerate(each(embedder.embed, texts), 1):
        if done in (count // 10, count):
            print(megabytes(), time.perf_counter() - begin, flush=True)
"""

NODE = """
import {{ each }} from "./src/bulk.js";
import {{ Embedder }} from "./src/index.js";
const [model, count] = process.argv.slice(1);
const embedder = await Embedder.open(model);
function* texts() {{
  for (let place = 0; place < count; place++) yield `text number ${{place}}`;
}}
const begin = performance.now();
let done = 0;
for await (const _ of each((window) => embedder.embed(window), texts())) {{
  if (++done === count / 10 || done === Number(count)) {{
    const megabytes = Math.floor(process.memoryUsage().rss / 1e6);
    console.log(megabytes, (performance.now() - begin) / 1000);
  }}
}}
await embedder.close();
"""

RUBY = """
require "{file}/bulk"
model, count = ARGV[0], ARGV[1].to_i
start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
done = 0
{module}::Embedder.open(model) do |embedder|
  texts = (0...count).lazy.map {{ |place| "text number #{{place}}" }}
  {module}::Bulk.map(texts) {{ |window| embedder.embed(window) }}.each do
    next unless [count / 10, count].include?(done += 1)
    megabytes = File.read("/proc/self/status")[/VmRSS:\\s+(\\d+)/, 1].to_i / 1000
    puts "#{{megabytes}} #{{Process.clock_gettime(Process::CLOCK_MONOTONIC) - start}}"
  end
end
"""

CSHARP = """
#:project {project}
#:package Tokenizers.DotNet.runtime.linux-x64@1.4.1
#:property PublishAot=false
using System.Diagnostics;
using {module};

var count = int.Parse(args[1]);
var watch = Stopwatch.StartNew();
using var embedder = Embedder.Open(args[0]);
var done = 0;
var texts = Enumerable.Range(0, count).Select(place => $"text number {{place}}");
var source = texts.ToAsyncEnumerable();
await foreach (var _ in Bulk.EachAsync(source, (window, token) => embedder.Embed(window)))
{{
    if (++done == count / 10 || done == count)
    {{
        var megabytes = Environment.WorkingSet / 1_000_000;
        var seconds = watch.Elapsed.TotalSeconds;
        Console.WriteLine(FormattableString.Invariant($"{{megabytes}} {{seconds}}"));
    }}
}}
"""

JAVA = """
import {package}.Embedder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;

class Million {{
  public static void main(String[] arguments) throws Exception {{
    int count = Integer.parseInt(arguments[1]);
    long begin = System.nanoTime();
    try (var embedder = Embedder.open(Path.of(arguments[0]))) {{
      for (int done = 0; done < count; ) {{
        int end = Math.min(done + {window}, done < count / 10 ? count / 10 : count);
        embedder.embed(IntStream.range(done, end).mapToObj(n -> "text number " + n).toList());
        done = end;
        if (done == count / 10 || done == count) {{
          var status = Files.readString(Path.of("/proc/self/status")).split("VmRSS:\\\\s+")[1];
          int megabytes = Integer.parseInt(status.split(" ")[0]) / 1000;
          System.out.println(megabytes + " " + (System.nanoTime() - begin) / 1e9);
        }}
      }}
    }}
  }}
}}
"""

GO = """
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	client "{module}"
)

func main() {{
	count, _ := strconv.Atoi(os.Args[2])
	begin := time.Now()
	embedder, err := client.Open(os.Args[1])
	if err != nil {{
		panic(err)
	}}
	defer embedder.Close()
	texts := make([]string, 0, {window})
	for done := 1; done <= count; done++ {{
		texts = append(texts, fmt.Sprintf("text number %d", done-1))
		if len(texts) < {window} && done != count/10 && done != count {{
			continue
		}}
		if _, err := embedder.Embed(context.Background(), texts); err != nil {{
			panic(err)
		}}
		texts = texts[:0]
		if done == count/10 || done == count {{
			status, _ := os.ReadFile("/proc/self/status")
			_, rest, _ := strings.Cut(string(status), "VmRSS:")
			kilobytes, _ := strconv.Atoi(strings.Fields(rest)[0])
			fmt.Println(kilobytes/1000, time.Since(begin).Seconds())
		}}
	}}
}}
"""

RUST = """
use std::{{env, fs, time::Instant}};
use {module}::Embedder;

fn main() {{
    let arguments: Vec<String> = env::args().collect();
    let count: usize = arguments[2].parse().unwrap();
    let begin = Instant::now();
    let embedder = Embedder::open(&arguments[1]).unwrap();
    let mut done = 0;
    while done < count {{
        let end = (done + {window}).min(if done < count / 10 {{ count / 10 }} else {{ count }});
        let texts: Vec<String> = (done..end).map(|n| format!("text number {{n}}")).collect();
        embedder.embed(&texts, None).unwrap();
        done = end;
        if done == count / 10 || done == count {{
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.split("VmRSS:").nth(1).unwrap();
            let kilobytes: usize = line.split_whitespace().next().unwrap().parse().unwrap();
            println!("{{}} {{}}", kilobytes / 1000, begin.elapsed().as_secs_f64());
        }}
    }}
}}
"""

CRATE = """
[package]
name = "million"
version = "0.1.0"
edition = "2024"

[[bin]]
name = "million"
path = "million.rs"

[dependencies]
{name} = {{ path = "{client}" }}
"""

#: Texts of a call in languages whose clients have no streams; those of the others take as many.
WINDOW = 8192


def python(client: Path, _: Path) -> list[str]:
    """Its program runs in the client's environment."""
    (module,) = (path.parent.name for path in client.glob("src/*/__init__.py"))
    return [str(client / ".venv/bin/python"), "-c", PYTHON.format(module=module)]


def node(_: Path, __: Path) -> list[str]:
    """Its program stands in the client's folder."""
    return ["node", "--input-type=module", "--eval", NODE.format()]


def ruby(client: Path, _: Path) -> list[str]:
    """Its program runs with the client's bundle."""
    (file,) = client.glob("lib/*.rb")
    (module,) = re.findall(r"^module (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    program = RUBY.format(file=file.stem, module=module)
    return ["bundle", "exec", "ruby", "-Ilib", "-e", program]


def csharp(client: Path, folder: Path) -> list[str]:
    """Its program is a file, which .NET builds with the client's project."""
    (project,) = client.glob("src/*.csproj")
    file = folder / "million.cs"
    file.write_text(CSHARP.format(project=project, module=project.stem).lstrip(), encoding="utf-8")
    return ["dotnet", "run", "--configuration", "Release", str(file)]


def java(client: Path, folder: Path) -> list[str]:
    """Its program is a file, which Java compiles with the classes of the client's harness."""
    (contract,) = client.glob("src/main/java/*/Contract.java")
    file = folder / "Million.java"
    file.write_text(JAVA.format(package=contract.parent.name, window=WINDOW), encoding="utf-8")
    return ["java", "-cp", "target/client-harness.jar", str(file)]


def go(client: Path, folder: Path) -> list[str]:
    """Its program is a file, which Go builds in the client's module."""
    module = (client / "go.mod").read_text(encoding="utf-8").split()[1]
    file = folder / "million.go"
    file.write_text(GO.format(module=module, window=WINDOW), encoding="utf-8")
    (library,) = client.glob(".venv/lib/python*/site-packages/onnxruntime/capi/libonnxruntime.so.*")
    return ["env", f"ONNXRUNTIME_LIBRARY_PATH={library}", "go", "run", str(file)]


def rust(client: Path, folder: Path) -> list[str]:
    """Its program is a crate, which shares what Cargo built of the client's packages."""
    name = tomllib.loads((client / "Cargo.toml").read_text("utf-8"))["package"]["name"]
    program = RUST.format(module=name.replace("-", "_"), window=WINDOW)
    (folder / "million.rs").write_text(program, encoding="utf-8")
    (folder / "Cargo.toml").write_text(CRATE.format(name=name, client=client), encoding="utf-8")
    (library,) = client.glob(".onnxruntime/onnxruntime/capi/libonnxruntime.so.*")
    run = ["cargo", "run", "--quiet", "--release", "--target-dir", str(client / "target")]
    manifest = ["--manifest-path", str(folder / "Cargo.toml"), "--"]
    return ["env", f"ORT_DYLIB_PATH={library}", *run, *manifest]


COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "python": python,
    "node": node,
    "ruby": ruby,
    "csharp": csharp,
    "java": java,
    "go": go,
    "rust": rust,
}


def main(model: Path, clients: Path, count: int) -> None:
    """Print a row for each language."""
    for language, command in COMMANDS.items():
        client = (clients / language).resolve()
        environment = json.loads((client / "harness.json").read_text("utf-8"))["environment"]
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [*command(client, Path(folder)), str(model.resolve()), str(count)],
                cwd=client,
                env=os.environ | environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        (early, _), (late, seconds) = (line.split() for line in ended.stdout.splitlines())
        rate = f"{count / float(seconds):,.0f} texts/s"
        print(f"{language:<7} {early:>5} MB {late:>5} MB {rate:>16}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 1_000_000)
