//! Entrances on the way down a path, of which it is known only below whether they are shown.

use super::entrances::{Role, creates_threads};
use super::{Paths, Shown, Step};

pub(super) type HeldId = u32;

/// The innermost of a list of entrances, and the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    above: Option<HeldId>,
    entrance: Shown,
    /// Whether any of them is of a runtime.
    is_of_runtime: bool,
    /// Whether an interpreter executes any of them.
    is_interpreted: bool,
}

impl Paths<'_> {
    /// Whether the innermost entrance is a function that creates threads or waits for them.
    pub(super) fn waits_for_threads(&self, step: Step) -> bool {
        let function =
            self.innermost_held(step).and_then(|held| self.functions.get(held.entrance.function.index()));
        function.is_some_and(|function| creates_threads(&function.name))
    }

    pub(super) fn is_in_runtime(&self, step: Step) -> bool {
        self.innermost_held(step).is_some_and(|held| held.is_of_runtime)
    }

    /// Into an entrance, of which it is not yet known whether it will be shown.
    pub(super) fn hold(&mut self, from: Step, entrance: Shown, role: Role) -> Step {
        let is_of_runtime = matches!(role, Role::Runtime | Role::Task) || self.is_in_runtime(from);
        let is_interpreted = self.is_interpreted(entrance.function) || self.holds_interpreted(from);
        let list = Held { above: from.held, entrance, is_of_runtime, is_interpreted };
        let new = self.held.len() as HeldId;
        let id = *self.held_ids.entry(list).or_insert(new);
        if id == new {
            self.held.push(list);
        }
        Step { held: Some(id), ..from }
    }

    /// The entrances that are held, innermost first.
    fn held(&self, from: Step) -> impl Iterator<Item = Shown> {
        // Not by recursion: a damaged log can have as many of them as it has nodes.
        let list = std::iter::successors(from.held, |&id| self.held.get(id as usize)?.above);
        list.filter_map(|id| self.held.get(id as usize)).map(|held| held.entrance)
    }

    fn innermost_held(&self, step: Step) -> Option<&Held> {
        step.held.and_then(|id| self.held.get(id as usize))
    }

    pub(super) fn holds_interpreted(&self, step: Step) -> bool {
        self.innermost_held(step).is_some_and(|held| held.is_interpreted)
    }

    /// The entrances that were held are shown after all; but not those between functions of Python.
    pub(super) fn with_held(&mut self, from: Step) -> Step {
        let mut entrances: Vec<Shown> = self.held(from).collect();
        if self.holds_interpreted(from) {
            entrances.retain(|entrance| !self.is_between_interpreted(entrance.function));
        }
        let from = Step { held: None, ..from };
        entrances.iter().rev().fold(from, |step, entrance| self.show(step, entrance))
    }
}
