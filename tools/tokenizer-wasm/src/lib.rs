//! The tokenizer of a model file as a WebAssembly module without imports.
//!
//! An instance holds one tokenizer. Bytes go in through one buffer and out through another: ask
//! `input` for room, write there, call, then read from `output`. What a call returns is how many
//! bytes are in the output; where it is negative, so many bytes of the text of an error. Each call
//! may move both buffers and the memory. A trap leaves an instance that is not to be used again.
//!
//! | export | takes | leaves in the output |
//! |---|---|---|
//! | `input(length)` | | returns the place of `length` bytes |
//! | `output()` | | returns the place of the output |
//! | `load(length)` | a tokenizer.json | nothing |
//! | `encode(length, special)` | UTF-8; 1 to add special tokens | token ids, little-endian u32 |
//! | `places(length)` | UTF-8, without special tokens | four little-endian u32 a token: its id, where it begins and ends in the text, in bytes, and the number of its word, or 2³² - 1 |
//! | `token(id)` | | the token's name in UTF-8; nothing where there is none |
//! | `version()` | | the version of tokenizers |

use std::cell::RefCell;

use tokenizers::Tokenizer;

#[derive(Default)]
struct Instance {
    tokenizer: Option<Tokenizer>,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local!(static INSTANCE: RefCell<Instance> = RefCell::default());

#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INSTANCE.with_borrow_mut(|instance| {
        instance.input.resize(length, 0);
        instance.input.as_mut_ptr()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    INSTANCE.with_borrow(|instance| instance.output.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn load(length: usize) -> isize {
    called(|instance| {
        let json = std::mem::take(&mut instance.input);
        instance.tokenizer = Some(Tokenizer::from_bytes(&json[..length])?);
        Ok(Vec::new())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn encode(length: usize, special: u32) -> isize {
    called(|instance| {
        let text = std::str::from_utf8(&instance.input[..length])?;
        let encoding = loaded(instance)?.encode_fast(text, special != 0)?;
        let ids = encoding.get_ids().iter().copied();
        Ok(ids.flat_map(u32::to_le_bytes).collect())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn places(length: usize) -> isize {
    called(|instance| {
        let text = std::str::from_utf8(&instance.input[..length])?;
        let encoding = loaded(instance)?.encode(text, false)?;
        let (ids, words) = (encoding.get_ids(), encoding.get_word_ids());
        let tokens = ids.iter().zip(encoding.get_offsets()).zip(words);
        let numbers = tokens.flat_map(|((id, (begin, end)), word)| {
            [*id, *begin as u32, *end as u32, word.unwrap_or(u32::MAX)]
        });
        Ok(numbers.flat_map(u32::to_le_bytes).collect())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn token(id: u32) -> isize {
    called(|instance| Ok(loaded(instance)?.id_to_token(id).unwrap_or_default().into()))
}

#[unsafe(no_mangle)]
pub extern "C" fn version() -> isize {
    called(|_| Ok(env!("CARGO_PKG_VERSION").into()))
}

fn loaded(instance: &Instance) -> tokenizers::Result<&Tokenizer> {
    Ok(instance.tokenizer.as_ref().ok_or("none is loaded")?)
}

/// Keeps in the output what a call gives, or the text of its error.
fn called(call: impl FnOnce(&mut Instance) -> tokenizers::Result<Vec<u8>>) -> isize {
    INSTANCE.with_borrow_mut(|instance| {
        let (output, sign) = match call(instance) {
            Ok(output) => (output, 1),
            Err(error) => (format!("tokenizer: {error}").into(), -1),
        };
        instance.output = output;
        sign * instance.output.len() as isize
    })
}

/// A module without imports has no source of random numbers. Dropout alone would ask for them, and
/// the numbers that hash tables ask for decide no order that anyone sees.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    place: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    unsafe { std::ptr::write_bytes(place, 7, length) };
    Ok(())
}
