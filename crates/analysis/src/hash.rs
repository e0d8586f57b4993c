//! A fast hasher for numbers. What is hashed are positions and addresses of the measured program: whoever
//! wants to slow the analysis down has easier ways.

pub(crate) use rustc_hash::{FxBuildHasher as Build, FxHashMap as Map};
