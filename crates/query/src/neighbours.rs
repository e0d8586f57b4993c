//! One function with its callers and callees.

use proust_profile::{ContextId, FunctionId};
use rustc_hash::FxHashMap;

use super::amounts::of_kind;
use super::forest::called_function;
use super::measure::Measure;
use super::selection::Selection;

/// A caller or callee, and the part of the function's time that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// The function; None for a caller means that there is none: the start of a thread, or a path whose upper
    /// end was not found.
    pub function: Option<FunctionId>,
    /// Callers: inclusive amount of the function when called from there. Callees: what was spent below the
    /// function in this callee.
    pub inclusive: u128,
    /// Callers: the function's own part of it. Callees: the callee's own part.
    pub exclusive: u128,
}

/// A function's callers and callees with exactly attributed amounts.
///
/// Nothing is estimated from numbers of calls: each amount has one path. With recursion a path belongs to the
/// caller of the outermost occurrence and to the callee of the innermost one, so that the callers' amounts
/// sum to the function's inclusive amount, and the callees' amounts plus its exclusive amount do too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// Inclusive amount of the function.
    pub inclusive: u128,
    /// Exclusive amount of the function.
    pub exclusive: u128,
    /// Whether the function calls itself, directly or through others.
    pub recursive: bool,
    /// Its callers, largest amount first.
    pub callers: Vec<Neighbour>,
    /// What it calls, largest amount first.
    pub callees: Vec<Neighbour>,
}

/// Where a context stands relative to the function asked about.
#[derive(Clone, Copy)]
enum Position {
    Outside,
    Inside { caller: Option<FunctionId>, callee: Option<FunctionId>, callee_is_nearest: bool },
}

impl Neighbours {
    /// Callers and callees of a function, in one measure.
    pub fn of(selection: &Selection<'_>, function: FunctionId, measure: impl Into<Measure>) -> Neighbours {
        let (profile, forest) = (selection.profile(), selection.forest());
        let measure = measure.into();
        let own = selection.own(measure);
        let join = of_kind(measure.kind());
        let mut result = Neighbours::default();
        let mut callers: FxHashMap<Option<FunctionId>, (u128, u128)> = FxHashMap::default();
        let mut callees: FxHashMap<Option<FunctionId>, (u128, u128)> = FxHashMap::default();
        let mut positions: Vec<Position> = Vec::with_capacity(profile.contexts.len());
        for (id, context) in profile.contexts.iter().enumerate() {
            let above = context.parent.map_or(Position::Outside, |parent| positions[parent.index()]);
            let position = match (above, called_function(profile, ContextId::from_index(id))) {
                (Position::Outside, Some(called)) if called == function => {
                    let caller = forest
                        .call_above(ContextId::from_index(id))
                        .and_then(|call| called_function(profile, call));
                    Position::Inside { caller, callee: None, callee_is_nearest: false }
                }
                (Position::Inside { caller, .. }, Some(called)) if called == function => {
                    result.recursive = true;
                    Position::Inside { caller, callee: None, callee_is_nearest: false }
                }
                (Position::Inside { caller, callee: None, .. }, Some(called)) => {
                    Position::Inside { caller, callee: Some(called), callee_is_nearest: true }
                }
                (Position::Inside { caller, callee, .. }, Some(_)) => {
                    Position::Inside { caller, callee, callee_is_nearest: false }
                }
                (above, _) => above,
            };
            positions.push(position);
            let amount = own[id];
            if amount == 0 {
                continue;
            }
            if let Position::Inside { caller, callee, callee_is_nearest } = position {
                join(&mut result.inclusive, amount);
                let from = callers.entry(caller).or_default();
                join(&mut from.0, amount);
                match callee {
                    None => {
                        join(&mut result.exclusive, amount);
                        join(&mut from.1, amount);
                    }
                    Some(_) => {
                        let to = callees.entry(callee).or_default();
                        join(&mut to.0, amount);
                        join(&mut to.1, if callee_is_nearest { amount } else { 0 });
                    }
                }
            }
        }
        result.callers = largest_first(callers);
        result.callees = largest_first(callees);
        result
    }
}

fn largest_first(amounts: FxHashMap<Option<FunctionId>, (u128, u128)>) -> Vec<Neighbour> {
    let mut neighbours: Vec<Neighbour> = amounts
        .into_iter()
        .map(|(function, (inclusive, exclusive))| Neighbour { function, inclusive, exclusive })
        .collect();
    neighbours.sort_by(|a, b| b.inclusive.cmp(&a.inclusive).then(a.function.cmp(&b.function)));
    neighbours
}
