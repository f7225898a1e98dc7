//! What this task knows besides.

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Settings {
    /// What a pair may be, in the order of the output's columns.
    pub(crate) labels: Vec<String>,
}
