//! The best of many scores.

use crate::error::Error;

/// How many are given at most; judged before anything is run.
pub(crate) fn limit(top: Option<usize>) -> Result<usize, Error> {
    match top {
        Some(0) => Err(Error::Argument("top is 0; expected 1 or more".into())),
        _ => Ok(top.unwrap_or(usize::MAX)),
    }
}

/// The highest scores with their places, best first, of equal ones the first, NaN last; at most `top`.
pub(crate) fn best<T: PartialOrd>(scores: impl IntoIterator<Item = T>, top: usize) -> Vec<(usize, T)> {
    let mut ranked: Vec<_> = scores.into_iter().enumerate().collect();
    let nan = |score: &T| score.partial_cmp(score).is_none();
    ranked.sort_by(|(_, one), (_, other)| other.partial_cmp(one).unwrap_or_else(|| nan(one).cmp(&nan(other))));
    ranked.truncate(top);
    ranked
}
