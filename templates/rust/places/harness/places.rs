//! Places of characters, which the protocol counts in code points.

/// How many characters stand before a byte of a text.
pub fn characters(text: &str, place: usize) -> usize {
    text[..place].chars().count()
}
