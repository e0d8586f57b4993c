//! Scaling loss by expectations: Coarfa, Mellor-Crummey, Froyd, Dotsenko, "Scalability analysis of SPMD codes
//! using expectations", ICS 2007; Tallent, Adhianto, Mellor-Crummey, "Scalable identification of load
//! imbalance", SC 2009; HPCToolkit's manual.
//!
//! With p and with q > p threads or ranks, what a place costs each of them, I, is expected to stay the same
//! when the problem grows with them (weak scaling), and to shrink by p ÷ q when it stays the same (strong
//! scaling). What is more than that, in relation to what the whole program costs with q, is the place's
//! scaling loss. Being a difference with one common denominator it adds up: the losses of a place's parts and
//! its own sum up to its loss.

use proust_profile::Ns;

/// Which problem is solved with more threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The same one.
    Strong,
    /// One that has grown with them.
    Weak,
}

/// The meaning of the amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Sums over all threads or ranks.
    Summed,
    /// Of one of them, or of their mean.
    Each,
}

/// A place with one count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Threads or ranks.
    pub count: f64,
    /// The cost of the place.
    pub amount: Ns,
    /// The cost of the whole program.
    pub total: Ns,
}

/// What is more in `large` than was to be expected from `small`: of the same cost as `large` has it. Negative
/// where it is less (superlinear).
pub fn excess(kind: Kind, cost: Cost, small: &Side, large: &Side) -> Ns {
    let ratio = large.count / small.count;
    let expected = match (kind, cost) {
        (Kind::Strong, Cost::Summed) | (Kind::Weak, Cost::Each) => small.amount,
        (Kind::Strong, Cost::Each) => small.amount / ratio,
        (Kind::Weak, Cost::Summed) => small.amount * ratio,
    };
    large.amount - expected
}

/// The same as a part of what the whole program costs with more; 0 if that is nothing.
pub fn loss(kind: Kind, cost: Cost, small: &Side, large: &Side) -> f64 {
    excess(kind, cost, small, large).share_of(large.total)
}
