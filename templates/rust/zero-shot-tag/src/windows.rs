//! Parts of a text that go through the model at once.

use crate::contract::CONTRACT;

/// Words that go through the model at once, `words[first..last]`.
///
/// The spans that begin at `words[begin..end]` are taken from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

/// Cut words of so many tokens into windows, so that each span lies whole in one of them.
///
/// A word with more tokens than there is room stands alone.
pub(crate) fn windows_of(sizes: &[usize], room: usize) -> Vec<Window> {
    let (most_words, width) = (CONTRACT.settings.most_words, CONTRACT.output.dimension);
    let (mut cut, mut first, mut last) = (Vec::new(), 0, 0);
    while last < sizes.len() {
        let mut tokens = 0;
        last = first;
        while last < sizes.len().min(first + most_words) && (last == first || tokens + sizes[last] <= room) {
            tokens += sizes[last];
            last += 1;
        }
        cut.push((first, last));
        first = (first + 1).max(last.saturating_sub(2 * width));
    }
    let middle = |place: usize| match cut.get(place) {
        Some((next, _)) if place > 0 => (cut[place - 1].1 + next).div_ceil(2),
        Some(_) => 0,
        None => sizes.len(),
    };
    let windows = cut.iter().enumerate();
    windows
        .map(|(place, &(first, last))| Window { first, last, begin: middle(place), end: middle(place + 1) })
        .collect()
}
