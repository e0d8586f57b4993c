//! A fast hasher for numbers. What is hashed are positions and addresses of the measured program: there are
//! easier ways to slow the analysis down.

pub(crate) use rustc_hash::{FxBuildHasher as Build, FxHashMap as Map};
