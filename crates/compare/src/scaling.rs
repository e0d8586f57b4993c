//! How a program's costs change with the number of its threads or ranks.
//!
//! - [`mod@loss`]: what is more than was to be expected, by the expectations formula
//! - [`timing`]: the times of a region's repetitions, and how sure they are
//! - [`causes`]: the parts of a region's processor time, and which of them grew
//! - [`curve`]: speedup and efficiency, with their uncertainty
//! - [`model`]: costs as a formula of the count, and what it predicts
//! - [`swept`]: a run of a sweep, as far as others are compared with it
//! - [`own_count`]: how many ranks and threads a run had, by its own data
//! - [`mod@gathered`]: a sweep of runs that were recorded one by one
//! - [`reading`]: such runs from their folders
//! - [`ensemble`]: the runs of a sweep laid over each other
//! - [`places`]: all of that for each place of a program

pub mod causes;
pub mod curve;
pub mod ensemble;
pub mod gathered;
pub mod loss;
pub mod model;
pub mod own_count;
pub mod places;
pub mod reading;
pub mod swept;
#[cfg(test)]
mod tests;
pub mod timing;

pub use causes::{Cause, Causes};
pub use curve::{Point, Ratio, efficiency, speedup};
pub use ensemble::{Disagreement, Ensemble};
pub use gathered::{NoSweep, gathered};
pub use loss::{Cost, Kind, Side, excess, loss};
pub use model::{Model, Prediction, Sample, fit};
pub use own_count::OwnCount;
pub use places::{PlaceScaling, Places};
pub use reading::{Source, read, read_without_counts};
pub use swept::{Segment, Swept, ThreadTime};
pub use timing::{Interval, Timing};
