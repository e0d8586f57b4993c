//! The search along a call path, from its innermost frame outwards.

use proust_profile::{ContextId, ContextKind, Profile};

use super::class::Class;
use super::roles::Roles;
use super::rule::{EVERYWHERE, Moment, Origin, Rule, RuleId, Rules, SectionId, Strength};

/// How many contexts a search visits at most: it ends where the runtime's frames end, and those are few.
const MAX_VISITED: usize = 256;

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) class: Class,
    pub(super) origin: Origin,
}

/// The rules' class of a path whose innermost call is `context`.
pub(super) fn find(
    rules: &Rules,
    roles: &Roles,
    profile: &Profile,
    context: ContextId,
    moment: Moment,
) -> Option<Found> {
    let mut search = Search::new(rules, moment);
    let mut next = Some(context);
    for _ in 0..MAX_VISITED {
        let Some(context) = next.and_then(|id| profile.contexts.get(id)) else {
            break;
        };
        next = context.parent;
        match context.kind {
            ContextKind::Frame | ContextKind::Inline => {
                let role = context.function.and_then(|function| roles.get(function));
                let Some(role) = role else {
                    break;
                };
                let goes_on = search.visit(&role.rules, &role.completes, &role.through);
                if !goes_on {
                    break;
                }
            }
            ContextKind::Program | ContextKind::Partial => break,
            // These are inside the call above them.
            _ => {}
        }
    }
    search.found()
}

/// A search under way.
struct Search<'r> {
    rules: &'r Rules,
    moment: Moment,
    /// Whether the user's rules may still overrule what the table has decided.
    users: bool,
    /// Sections whose frames are passed.
    passed: Vec<SectionId>,
    /// Rules that matched, and hold if what they want to be under is met.
    pending: Vec<RuleId>,
    matched: bool,
    decided: Option<Found>,
    /// What holds if nothing further out decides: the user's, and the table's.
    weak: [Option<Found>; 2],
}

impl<'r> Search<'r> {
    fn new(rules: &'r Rules, moment: Moment) -> Search<'r> {
        Search {
            rules,
            moment,
            users: rules.has_users(),
            passed: vec![EVERYWHERE],
            pending: Vec::new(),
            matched: false,
            decided: None,
            weak: [None; 2],
        }
    }

    fn rule(&self, id: RuleId) -> Option<&'r Rule> {
        self.rules.rules.get(id as usize)
    }

    /// One frame further out; false when the search is over.
    fn visit(&mut self, naming: &[RuleId], completed: &[RuleId], through: &[SectionId]) -> bool {
        let met_before = self.matched;
        let mut holding: Vec<RuleId> =
            completed.iter().copied().filter(|id| self.pending.contains(id)).collect();
        let mut named = !holding.is_empty();
        for &id in naming {
            let Some(rule) = self.rule(id) else { continue };
            if rule.when.is_some_and(|when| !when.holds(self.moment)) || (rule.direct && met_before) {
                continue;
            }
            (named, self.matched) = (true, true);
            if !self.passed.contains(&rule.section) {
                self.passed.push(rule.section);
            }
            match rule.under {
                Some(_) if self.pending.contains(&id) => {}
                Some(_) => self.pending.push(id),
                None => holding.push(id),
            }
        }
        // Of those that hold at the same frame the first one goes.
        holding.sort_unstable();
        self.take(&holding, Strength::Weak);
        self.take(&holding, Strength::Final);
        let over = self.decided.is_some_and(|found| found.origin == Origin::User || !self.users);
        !over && (named || through.iter().any(|section| self.passed.contains(section)))
    }

    /// Remembers the first of these rules with this strength, by its source.
    fn take(&mut self, holding: &[RuleId], strength: Strength) {
        for origin in [Origin::User, Origin::Standard] {
            let rules = holding.iter().filter_map(|&id| self.rule(id));
            let first = rules.into_iter().find(|rule| rule.strength == strength && rule.origin == origin);
            let Some(found) = first.map(|rule| Found { class: rule.class, origin }) else {
                continue;
            };
            match strength {
                // The outermost weak one.
                Strength::Weak => self.weak[usize::from(origin == Origin::Standard)] = Some(found),
                // The innermost final one, but the user's before the table's.
                Strength::Final
                    if self
                        .decided
                        .is_none_or(|known| known.origin != Origin::User && origin == Origin::User) =>
                {
                    self.decided = Some(found);
                }
                Strength::Final => {}
            }
        }
    }

    fn found(self) -> Option<Found> {
        self.decided.or(self.weak[0]).or(self.weak[1])
    }
}
