#!/bin/sh
# Builds templates/wasm/tokenizer.wasm with the cargo and wasm-ld of PATH: README.md says with which ones.
set -e
cd "$(dirname "$0")"
# The lock file names a registry's address, versions.txt does not.
cargo generate-lockfile --quiet
while read -r name version; do
  cargo update --quiet --package "$name" --precise "$version" 2>/dev/null || true # of a name with two versions
  grep -A1 "^name = \"$name\"$" Cargo.lock | grep -q "^version = \"$version\"$" || {
    echo "$name $version of versions.txt cannot be had" >&2
    exit 1
  }
done < versions.txt
export RUSTC_BOOTSTRAP=1 # for -Z
export RUSTFLAGS='--cfg getrandom_backend="custom" -Clinker=wasm-ld -Zlocation-detail=none'
cargo build --release --locked --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort
mkdir -p ../../templates/wasm
cp "${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/release/tokenizer_wasm.wasm" ../../templates/wasm/tokenizer.wasm
