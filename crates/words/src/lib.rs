//! Words and numbers as users read and write them.
//!
//! - `nouns`: numbers with their nouns
//! - [`arguments`]: of templates and generic functions, in names
//! - [`durations`]: times as users write them, the same on every command line
//! - [`nearest`]: suggestions for a word that was not understood
//! - [`sizes`]: bytes as users write them

pub mod arguments;
pub mod durations;
pub mod nearest;
mod nouns;
pub mod sizes;

pub use nouns::{count, counted, verb};
