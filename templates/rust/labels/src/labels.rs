//! Labels that are asked for.

use crate::error::Error;

/// At least one label, and none twice.
pub(crate) fn check(labels: &[&str]) -> Result<(), Error> {
    if labels.is_empty() {
        return Err(Error::OutOfRange("labels is empty; give at least one".into()));
    }
    for (place, label) in labels.iter().enumerate() {
        if labels[..place].contains(label) {
            return Err(Error::OutOfRange(format!("labels[{place}] is \"{label}\" again; give each label once")));
        }
    }
    Ok(())
}
