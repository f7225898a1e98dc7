//! The words of texts, and which tokens each has.

use std::iter;
use std::ops::Range;

use tokenizers::Tokenizer;

use crate::contract::{MAX_LENGTH, SETTINGS};
use crate::error::Error;

const GAP: [char; 4] = [' ', '\t', '\n', '\r'];

/// A word, `text[start..end]`, and its tokens among those of the text.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The words of a text, and how many tokens it has; more than there is room for are an error.
pub(crate) fn words_of(tokenizer: &Tokenizer, text: &str, room: usize) -> Result<(Vec<Word>, usize), Error> {
    let (mut words, mut tokens) = (Vec::new(), 0);
    for chunk in chunks(text) {
        tokens += add_words(&mut words, tokenizer, text, chunk, tokens)?;
    }
    if tokens <= room {
        return Ok((words, tokens));
    }
    Err(Error::long_text(text, &format!("has {tokens} tokens, {room} fit; give it in parts")))
}

/// A special token that takes white space with it would give words the tokens of others.
pub(crate) fn check_tokens(found: usize, counted: usize) -> Result<(), Error> {
    if found == counted {
        return Ok(());
    }
    let problem = format!("the tokenizer gives {found} tokens for a text, and {counted} for what stands between");
    Err(Error::Argument(format!("{problem} its white space; take special tokens out of it")))
}

/// What a tokenizer treats by itself: a gap and what follows up to the next; the last one ends with the text.
fn chunks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let begins = |place: &usize| *place > 0 && !text[..*place].ends_with(GAP);
    let mut cuts: Vec<usize> = text.match_indices(GAP).map(|(place, _)| place).filter(begins).collect();
    if text.ends_with(GAP) {
        cuts.pop();
    }
    let ends: Vec<usize> = cuts.iter().copied().chain([text.len()]).collect();
    iter::once(0).chain(cuts).zip(ends).map(|(start, end)| start..end)
}

/// Add the words of a chunk, behind so many tokens; how many it has itself.
fn add_words(
    words: &mut Vec<Word>,
    tokenizer: &Tokenizer,
    text: &str,
    place: Range<usize>,
    before: usize,
) -> Result<usize, Error> {
    let (begin, chunk) = (place.start, &text[place]);
    let encoding = tokenizer.encode_char_offsets(chunk, false)?;
    // A tokenizer's bytes may end within a character; it counts characters, and slices have bytes.
    let at: Vec<usize> = chunk.char_indices().map(|(byte, _)| byte).chain([chunk.len()]).collect();
    let places: Vec<_> = encoding.get_offsets().iter().map(|&(start, end)| at[start]..at[end]).collect();
    let (gap, end) = (chunk.len() - chunk.trim_start_matches(GAP).len(), chunk.trim_end_matches(GAP).len());
    let (tokens, ids): (Vec<usize>, _) = ((0..places.len()).collect(), encoding.get_word_ids());
    let groups = tokens.chunk_by(|&one, &next| ids[one] == ids[next]);
    let mut groups: Vec<_> = groups.map(|group| group[0]..group[0] + group.len()).collect();
    // Tokens of a gap are no word's, unless the tokenizer lets a word begin with them.
    groups.retain(|group| places[group.start].start < end && places[group.end - 1].end > gap);
    let mut starts: Vec<usize> = groups.iter().map(|group| gap.max(places[group.start].start)).collect();
    if SETTINGS.words == "gaps" && !groups.is_empty() {
        groups[0].end = groups[groups.len() - 1].end;
        groups.truncate(1);
        starts = vec![gap];
    }
    starts.push(end);
    for (group, place) in groups.iter().zip(starts.windows(2)) {
        let word = chunk.get(place[0]..place[1]).unwrap_or_default().trim_end();
        if !word.is_empty() {
            let start = begin + place[0];
            words.push(Word { start, end: start + word.len(), first: before + group.start, last: before + group.end });
        }
    }
    // The tokenizer cuts what is longer than a row, and does not say how long it was.
    if places.len() >= MAX_LENGTH {
        return Err(Error::long_text(text, &format!("has a word of {MAX_LENGTH} tokens or more; give it in parts")));
    }
    Ok(places.len())
}
