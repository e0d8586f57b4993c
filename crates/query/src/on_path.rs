//! Amounts by what is on a path: modules, source lines. What is on a path several times counts once.

use std::hash::Hash;

use proust_profile::{ContextId, ContextKind, FunctionId, IndexVec, Metric, ModuleId, Profile, Unit};
use rustc_hash::FxHashMap;

use super::amounts::{self, Amounts, Sampling};
use super::forest::{Forest, is_call};
use super::measure::Measure;
use super::selection::Selection;

/// A line of a source file.
pub type SourceLine<'p> = (&'p str, u32);

/// What contexts bring onto their paths, and which own amounts are whose.
///
/// Each own amount has one place at most, so that exclusive amounts and the [rest](OnPath::rest) add up to
/// the total.
#[derive(Clone, Debug)]
pub struct OnPath<K> {
    /// The things by position: rows of a table.
    pub keys: Vec<K>,
    /// What a context brings onto the path, if it is the outermost one to do so.
    brings: IndexVec<ContextId, Option<usize>>,
    /// Whose a context's own amount is.
    owner: IndexVec<ContextId, Option<usize>>,
}

impl OnPath<ModuleId> {
    /// Executables and libraries: own amounts are those of their functions, inlined ones included.
    pub fn modules(profile: &Profile, forest: &Forest) -> OnPath<ModuleId> {
        let of_call = |id: ContextId| {
            let context = &profile.contexts[id];
            let function = context.function.filter(|_| is_call(context.kind))?;
            profile.functions[function].module
        };
        let own = |id: ContextId| {
            let is_call = is_call(profile.contexts[id].kind);
            of_call(if is_call { id } else { forest.call_above(id)? })
        };
        OnPath::of(profile, forest, of_call, own)
    }
}

impl<'p> OnPath<SourceLine<'p>> {
    /// Source lines: own amounts are those of the line itself; the inclusive ones have all that is called
    /// there.
    pub fn lines(profile: &'p Profile, forest: &Forest) -> OnPath<SourceLine<'p>> {
        let place = |id: ContextId| {
            let context = &profile.contexts[id];
            // Of a call it is the place of the call.
            Some((context.file.as_deref()?, context.line?))
        };
        let is_line = |id: ContextId| profile.contexts[id].kind == ContextKind::Line;
        let brings = |id| place(id).filter(|_| is_line(id) || is_call(profile.contexts[id].kind));
        OnPath::of(profile, forest, brings, |id| place(id).filter(|_| is_line(id)))
    }

    /// The function of each line by position: the first one in which it is, if it is inlined into several.
    pub fn functions(&self, profile: &Profile) -> Vec<Option<FunctionId>> {
        let mut functions = vec![None; self.keys.len()];
        for (id, context) in profile.contexts.iter_enumerated() {
            if let Some(line) = self.owner[id] {
                functions[line] = functions[line].or(context.function);
            }
        }
        functions
    }
}

impl<K: Copy + Eq + Hash> OnPath<K> {
    fn of(
        profile: &Profile,
        forest: &Forest,
        brings: impl Fn(ContextId) -> Option<K>,
        owner: impl Fn(ContextId) -> Option<K>,
    ) -> OnPath<K> {
        let mut keys = Vec::new();
        let mut positions: FxHashMap<K, usize> = FxHashMap::default();
        let mut position = |key: K| {
            *positions.entry(key).or_insert_with(|| {
                keys.push(key);
                keys.len() - 1
            })
        };
        let mut brought: IndexVec<ContextId, Option<usize>> =
            profile.contexts.keys().map(|id| brings(id).map(&mut position)).collect();
        let owner = profile.contexts.keys().map(|id| owner(id).map(&mut position)).collect();
        let outermost = forest.outermost_of(profile, keys.len(), |id| brought[id]);
        for (id, outermost) in outermost.into_iter_enumerated() {
            brought[id] = brought[id].filter(|_| outermost);
        }
        OnPath { keys, brings: brought, owner }
    }

    /// A measure by position of the things.
    pub fn amounts(&self, selection: &Selection<'_>, measure: impl Into<Measure>) -> Amounts {
        let measure = measure.into();
        self.over(selection.profile(), &selection.own(measure), amounts::of_kind(measure.kind()))
    }

    /// Standard errors of the CPU seconds by position of the things, as [`Amounts::errors_by_context`].
    pub fn errors(&self, selection: &Selection<'_>) -> Amounts<f64> {
        let squares = self.over(selection.profile(), selection.squares(), amounts::add);
        let cpu = self.amounts(selection, Metric::Cpu).shown(Unit::SECONDS);
        amounts::errors(squares, &cpu, Sampling::of(selection))
    }

    /// Which thing a context brings onto a path on which it is not yet.
    pub(super) fn brought_by(&self, context: ContextId) -> Option<usize> {
        self.brings[context]
    }

    /// Whose a context's own amount is.
    pub(super) fn owner_of(&self, context: ContextId) -> Option<usize> {
        self.owner[context]
    }

    /// Spreads each context's own amount over the things on its path.
    fn over<T: Copy + Default>(&self, profile: &Profile, own: &[T], join: impl Fn(&mut T, T)) -> Amounts<T> {
        let mut inclusive = own.to_vec();
        let mut amounts = Amounts::nothing(self.keys.len());
        // Children are behind their parents.
        for (id, context) in profile.contexts.iter_enumerated().rev() {
            if let Some(parent) = context.parent {
                let below = inclusive[id.index()];
                join(&mut inclusive[parent.index()], below);
            }
            if let Some(row) = self.owner[id] {
                join(&mut amounts.exclusive[row], own[id.index()]);
            }
            if let Some(row) = self.brings[id] {
                join(&mut amounts.inclusive[row], inclusive[id.index()]);
            }
        }
        amounts
    }

    /// The part of a measure that is nobody's own.
    pub fn rest(&self, selection: &Selection<'_>, measure: impl Into<Measure>) -> u128 {
        let measure = measure.into();
        let own = self.owner.iter().zip(selection.own(measure)).filter(|(owner, _)| owner.is_none());
        own.fold(0, |rest, (_, amount)| measure.kind().joined(rest, amount))
    }
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;
    use proust_profile::{Context, Function, LocationId, Value};
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::statistics::Spread;

    const LOCATIONS: u32 = 3;

    /// Contexts in any tree, of few functions, modules and lines, so that many recur on a path.
    fn profiles() -> impl Strategy<Value = Profile> {
        let kind = prop_oneof![
            4 => Just(ContextKind::Frame),
            2 => Just(ContextKind::Inline),
            4 => Just(ContextKind::Line),
            1 => Just(ContextKind::Loop),
        ];
        let amount = (0..LOCATIONS, 0..100_u32);
        let row = (any::<prop::sample::Index>(), kind, 0..5_u32, prop::option::of(1..4_u32), amount);
        prop::collection::vec(row, 1..40).prop_map(|rows| {
            let function =
                |module: Option<u32>| Function { module: module.map(ModuleId), ..Function::default() };
            let mut profile = Profile {
                functions: [None, Some(0), Some(0), Some(1), Some(2)].map(function).to_vec().into(),
                contexts: vec![Context {
                    parent: None,
                    kind: ContextKind::Program,
                    function: None,
                    file: None,
                    line: None,
                }]
                .into(),
                locations: vec![proust_profile::Location::default(); LOCATIONS as usize].into(),
                processes: vec![proust_profile::Process::default()].into(),
                ..Profile::default()
            };
            for (parent, kind, function, line, (location, amount)) in rows {
                let context = ContextId::from_index(profile.contexts.len());
                profile.contexts.push(Context {
                    parent: Some(ContextId::from_index(parent.index(profile.contexts.len()))),
                    kind,
                    function: Some(FunctionId(function)),
                    file: line.map(|line| format!("{}.c", line % 2)),
                    line,
                });
                let location = LocationId(location);
                let value = Value { context, location, metric: Metric::Cpu, amount: amount.into() };
                profile.values.extend((amount > 0).then_some(value));
            }
            profile
        })
    }

    fn of_paths<K: Copy + Eq + Hash>(
        profile: &Profile,
        brings: impl Fn(ContextId) -> Option<K>,
        own: impl Fn(&[ContextId]) -> Option<K>,
    ) -> (FxHashMap<K, [u128; 2]>, u128) {
        let (mut found, mut rest) = (FxHashMap::<K, [u128; 2]>::default(), 0);
        for value in &profile.values {
            let up = std::iter::successors(Some(value.context), |&id| profile.contexts[id].parent);
            let path: Vec<ContextId> = up.collect();
            let keys: FxHashSet<K> = path.iter().filter_map(|&id| brings(id)).collect();
            for key in keys {
                found.entry(key).or_default()[0] += u128::from(value.amount);
            }
            match own(&path) {
                Some(key) => found.entry(key).or_default()[1] += u128::from(value.amount),
                None => rest += u128::from(value.amount),
            }
        }
        (found, rest)
    }

    fn check<K: Copy + Eq + Hash + std::fmt::Debug>(
        selection: &Selection<'_>,
        on_path: &OnPath<K>,
        of: impl Fn(&Profile) -> (FxHashMap<K, [u128; 2]>, u128),
    ) {
        let profile = selection.profile();
        let (mut expected, rest) = of(profile);
        let amounts = on_path.amounts(selection, Metric::Cpu);
        let spread = Spread::on_path(selection, on_path, Metric::Cpu);
        let by_location: Vec<_> = (0..LOCATIONS)
            .map(|id| {
                let is_there = |value: &&Value| value.location == LocationId(id);
                let values = profile.values.iter().filter(is_there).copied().collect();
                of(&Profile { values, ..profile.clone() }).0
            })
            .collect();
        for (row, key) in on_path.keys.iter().enumerate() {
            let of_key = expected.remove(key).unwrap_or_default();
            assert_eq!([amounts.inclusive[row], amounts.exclusive[row]], of_key, "{key:?}");
            for (which, found) in [&spread.inclusive[row], &spread.exclusive[row]].into_iter().enumerate() {
                let each = by_location.iter().map(|of| of.get(key).map_or(0, |amounts| amounts[which]));
                let (least, most) =
                    each.fold((u128::MAX, 0), |(least, most), one| (one.min(least), one.max(most)));
                let expected = [of_key[which], least, most].map(|sum| Unit::SECONDS.shown(sum));
                assert_eq!([found.sum, found.min, found.max], expected, "{key:?}");
            }
        }
        assert!(expected.is_empty(), "{expected:?}");
        assert_eq!(on_path.rest(selection, Metric::Cpu), rest);
        assert_eq!(amounts.exclusive.iter().sum::<u128>() + rest, selection.total(Metric::Cpu));
    }

    proptest! {
        /// Each value walks up its path by itself, and counts once for everything that it meets.
        #[test]
        fn amounts_are_those_of_the_single_paths(profile in profiles()) {
            let selection = Selection::all(&profile);
            let module = |id: ContextId| {
                let context = &profile.contexts[id];
                let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
                context.function.filter(|_| is_call).map(|function| profile.functions[function].module)
            };
            let innermost = |path: &[ContextId]| path.iter().find_map(|&id| module(id)).flatten();
            let modules = OnPath::modules(&profile, selection.forest());
            check(&selection, &modules, |of| of_paths(of, |id| module(id).flatten(), innermost));
            let place = |id: ContextId| {
                let context = &profile.contexts[id];
                (context.kind != ContextKind::Loop).then_some(())?;
                Some((context.file.as_deref()?, context.line?))
            };
            let of_line = |path: &[ContextId]| {
                place(path[0]).filter(|_| profile.contexts[path[0]].kind == ContextKind::Line)
            };
            let lines = OnPath::lines(&profile, selection.forest());
            check(&selection, &lines, |of| of_paths(of, place, of_line));
        }
    }
}
