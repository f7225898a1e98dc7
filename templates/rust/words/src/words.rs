//! The words of texts, and which tokens each has.

use std::ops::Range;

use tokenizers::Tokenizer;

use crate::contract::{MAX_LENGTH, WORDS};
use crate::error::Error;

const GAP: [char; 4] = [' ', '\t', '\n', '\r'];

/// The place of a word in its text, in bytes, and its tokens among those of the text.
pub(crate) struct Word {
    pub(crate) place: Range<usize>,
    pub(crate) tokens: Range<usize>,
}

/// The words of a text, and how many tokens it has; more than there is room for are an error.
pub(crate) fn words_of(tokenizer: &Tokenizer, text: &str, room: usize) -> Result<(Vec<Word>, usize), Error> {
    let (mut words, mut before) = (Vec::new(), 0);
    for chunk in chunks(text) {
        let (begin, chunk) = (chunk.start, &text[chunk]);
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
        if WORDS == "gaps" && !groups.is_empty() {
            groups[0].end = groups[groups.len() - 1].end;
            groups.truncate(1);
            starts = vec![gap];
        }
        starts.push(end);
        for (group, cut) in groups.iter().zip(starts.windows(2)) {
            let word = chunk.get(cut[0]..cut[1]).unwrap_or_default().trim_end();
            if !word.is_empty() {
                let (start, tokens) = (begin + cut[0], before + group.start..before + group.end);
                words.push(Word { place: start..start + word.len(), tokens });
            }
        }
        // The tokenizer cuts what is longer than a row, and does not say how long it was.
        if places.len() >= MAX_LENGTH {
            let problem = format!("has a word of {MAX_LENGTH} tokens or more; give it in parts");
            return Err(Error::long_text(text, &problem));
        }
        before += places.len();
    }
    if before > room {
        return Err(Error::long_text(text, &format!("has {before} tokens, {room} fit; give it in parts")));
    }
    Ok((words, before))
}

/// What a tokenizer treats by itself: a gap and what follows up to the next; the last one ends with the text.
fn chunks(text: &str) -> Vec<Range<usize>> {
    let gaps = text.trim_end_matches(GAP).match_indices(GAP).map(|(place, _)| place);
    let begins = gaps.filter(|&place| place > 0 && !text[..place].ends_with(GAP));
    let cuts: Vec<usize> = [0].into_iter().chain(begins).chain([text.len()]).collect();
    cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
}

/// A special token that takes white space with it would give words the tokens of others.
pub(crate) fn check_tokens(text: &str, found: usize, counted: usize) -> Result<(), Error> {
    if found == counted {
        return Ok(());
    }
    let begin: String = text.chars().take(40).collect();
    let problem = format!("\"{begin}…\" has {found} tokens, and {counted} in what stands between its white space");
    Err(Error::Argument(format!("{problem}; take special tokens out of it")))
}
