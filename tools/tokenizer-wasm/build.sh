#!/bin/sh
# Builds templates/wasm/tokenizer.wasm with the cargo and wasm-ld of PATH: README.md says with which ones.
set -e
cd "$(dirname "$0")"
export RUSTC_BOOTSTRAP=1 # for -Z
export RUSTFLAGS='--cfg getrandom_backend="custom" -Clinker=wasm-ld -Zlocation-detail=none'
cargo build --release --locked --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort
mkdir -p ../../templates/wasm
cp "${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/release/tokenizer_wasm.wasm" ../../templates/wasm/tokenizer.wasm
