//! Tests of the crate's own parts.
