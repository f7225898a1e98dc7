//! The best of many scores.

use std::cmp::Ordering;

use crate::error::Error;

/// The places of the highest scores, best first, of equal ones the first; at most `top`.
pub(crate) fn best<T: PartialOrd>(scores: &[T], top: Option<usize>) -> Result<Vec<usize>, Error> {
    if top == Some(0) {
        return Err(Error::Argument("top is 0; expected 1 or more".into()));
    }
    let mut places: Vec<usize> = (0..scores.len()).collect();
    places.sort_by(|&one, &other| scores[other].partial_cmp(&scores[one]).unwrap_or(Ordering::Equal));
    places.truncate(top.unwrap_or(usize::MAX));
    Ok(places)
}
