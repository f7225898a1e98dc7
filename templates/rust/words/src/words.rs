//! The words of texts, and how many tokens each has.

use std::{iter, ops::Range};

use crate::{contract::CONTRACT, error::Error, model::Model};

/// Tokens that two windows of a text share, at most.
const OVERLAP: usize = 128;

/// Characters of its neighbours that a piece of a chunk has on each side, at most.
const CONTEXT: usize = 64;

/// What a chunk may begin with, and the last one end with.
const GAP: [char; 4] = [' ', '\t', '\n', '\r'];

/// A word: `text[start..end]`, and its tokens among those of its chunk or window.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// What lies between the ends of two gaps, `text[start..end]`; tokens of a gap are mostly no word's.
///
/// Of one that is too long it is a piece, which shows its neighbours' characters before `inner`.
pub(crate) struct Chunk {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) tokens: usize,
    pub(crate) words: Vec<Word>,
    pub(crate) inner: Option<usize>,
}

/// The chunks of a text; what has as many tokens as there is room is cut into pieces.
pub(crate) fn chunks_of(model: &Model, text: &str, room: usize) -> Result<Vec<Chunk>, Error> {
    let mut chunks = Vec::new();
    for (start, end) in places(text) {
        let chunk = chunk_of(model, text, start, end)?;
        if chunk.tokens < room {
            chunks.push(chunk);
        } else {
            chunks.extend(pieces(model, text, start, end, room)?);
        }
    }
    Ok(chunks)
}

/// As few windows as hold no more tokens than there is room, overlapping by whole chunks: `chunks[window]`.
///
/// A piece is one by itself, as it has other tokens beside another.
pub(crate) fn windows_of(chunks: &[Chunk], room: usize) -> Vec<Range<usize>> {
    let size = |chunk: &Chunk| if chunk.inner.is_none() { chunk.tokens } else { room + 1 };
    let sums = chunks.iter().scan(0, |sum, chunk| {
        *sum += size(chunk);
        Some(*sum)
    });
    let ends: Vec<usize> = iter::once(0).chain(sums).collect();
    let shared = OVERLAP.min(room / 2);
    let (mut windows, mut first, mut last) = (Vec::new(), 0, 0);
    while last < chunks.len() {
        last = first + 1;
        while last < chunks.len() && ends[last + 1] - ends[first] <= room {
            last += 1;
        }
        windows.push(first..last);
        first += 1;
        let too_many = |first: usize| {
            ends[last] - ends[first] > shared || (last < chunks.len() && ends[last + 1] - ends[first] > room)
        };
        while first < last && too_many(first) {
            first += 1;
        }
    }
    windows
}

/// The words of a window, of which the graph was given so many tokens: fewer where one character has more than fit.
pub(crate) fn words_of(chunks: &[Chunk], tokens: usize) -> Result<Vec<Word>, Error> {
    let expected: usize = chunks.iter().map(|chunk| chunk.tokens).sum();
    let is_cut = chunks[0].inner.is_some() && tokens < expected;
    if tokens != expected && !is_cut {
        let found = format!("the tokenizer gives {tokens} tokens for a text, and {expected} for what stands between");
        let problem = "its white space, so that no word's tokens are known; take special tokens out of it";
        return Err(Error::Model(format!("{found} {problem}"), None));
    }
    let (mut words, mut before) = (Vec::new(), 0);
    for chunk in chunks {
        for word in chunk.words.iter().filter(|word| before + word.first < tokens) {
            words.push(Word { first: before + word.first, last: tokens.min(before + word.last), ..*word });
        }
        before += chunk.tokens;
    }
    Ok(words)
}

/// Where chunks lie: each is a gap and what follows up to the next one.
pub(crate) fn places(text: &str) -> Vec<(usize, usize)> {
    let (mut places, mut start) = (Vec::new(), 0);
    while let Some(gap) = text[start..].find(|one| !GAP.contains(&one)) {
        let body = start + gap;
        let end = text[body..].find(GAP).map_or(text.len(), |length| body + length);
        places.push((start, end));
        start = end;
    }
    if let Some(last) = places.last_mut() {
        last.1 = text.len();
    }
    places
}

/// Halves of a chunk, and halves of these; where each is a word, it has no context.
fn pieces(model: &Model, text: &str, start: usize, end: usize, room: usize) -> Result<Vec<Chunk>, Error> {
    let shared = if CONTRACT.settings.words == "gaps" { 0 } else { CONTEXT.min(room / 8) };
    let at: Vec<_> = text[start..end].char_indices().map(|(place, _)| start + place).chain([end]).collect();
    let (mut pieces, mut halves) = (Vec::new(), vec![(0_usize, at.len() - 1)]);
    while let Some((first, last)) = halves.pop() {
        let (begin, behind) = (first.saturating_sub(shared), (last + shared).min(at.len() - 1));
        let chunk = chunk_of(model, text, at[begin], at[behind])?;
        if chunk.tokens < room || last - first == 1 {
            pieces.push(Chunk { inner: Some(at[first]), ..chunk });
        } else {
            let middle = usize::midpoint(first, last);
            halves.extend([(middle, last), (first, middle)]);
        }
    }
    Ok(pieces)
}

/// Tokenize `text[begin..behind]`, and find the words in it.
fn chunk_of(model: &Model, text: &str, begin: usize, behind: usize) -> Result<Chunk, Error> {
    let chunk = &text[begin..behind];
    let (gap, end) = (chunk.len() - chunk.trim_start_matches(GAP).len(), chunk.trim_end_matches(GAP).len());
    let (offsets, ids) = model.offsets(chunk)?;
    let mut groups: Vec<Range<usize>> = Vec::new();
    for token in 0..ids.len() {
        match groups.last_mut() {
            Some(group) if ids[group.start] == ids[token] => group.end = token + 1,
            _ => groups.push(token..token + 1),
        }
    }
    groups.retain(|group| offsets[group.start].0 < end && offsets[group.end - 1].1 > gap);
    let mut starts: Vec<_> = groups.iter().map(|group| gap.max(offsets[group.start].0)).collect();
    if CONTRACT.settings.words == "gaps"
        && let Some(last) = groups.last().map(|group| group.end)
    {
        groups.truncate(1);
        groups[0].end = last;
        starts = vec![gap];
    }
    starts.push(end);
    let mut words = Vec::new();
    for (group, place) in groups.iter().zip(starts.windows(2)) {
        let word = chunk.get(place[0]..place[1]).unwrap_or_default().trim_end();
        if !word.is_empty() {
            let start = begin + place[0];
            words.push(Word { start, end: start + word.len(), first: group.start, last: group.end });
        }
    }
    Ok(Chunk { start: begin, end: behind, tokens: ids.len(), words, inner: None })
}
