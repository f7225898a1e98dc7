//! Results, the best ones first.

use std::cmp::Ordering;

use crate::error::Error;

/// How many are wanted; all where nothing is said.
pub(crate) fn checked(top: Option<usize>) -> Result<usize, Error> {
    match top {
        Some(0) => Err(Error::OutOfRange("top is 0; expected 1 or more".into())),
        _ => Ok(top.unwrap_or(usize::MAX)),
    }
}

/// The ones with the highest scores; equal ones in their order.
pub(crate) fn best<T>(all: impl IntoIterator<Item = T>, most: usize, score: impl Fn(&T) -> f64) -> Vec<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    all.sort_by(|one, other| score(other).partial_cmp(&score(one)).unwrap_or(Ordering::Equal));
    all.truncate(most);
    all
}
