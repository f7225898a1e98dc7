//! The best of many scores.

use std::cmp::Ordering;

use crate::error::Error;

/// How many are given at most; judged before anything is run.
pub(crate) fn limit(top: Option<usize>) -> Result<usize, Error> {
    match top {
        Some(0) => Err(Error::Argument("top is 0; expected 1 or more".into())),
        _ => Ok(top.unwrap_or(usize::MAX)),
    }
}

/// The highest scores with their places, best first, of equal ones the first; at most `top`.
pub(crate) fn best<T: PartialOrd>(scores: impl IntoIterator<Item = T>, top: usize) -> Vec<(usize, T)> {
    let mut ranked: Vec<_> = scores.into_iter().enumerate().collect();
    ranked.sort_by(|(_, one), (_, other)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
    ranked.truncate(top);
    ranked
}
