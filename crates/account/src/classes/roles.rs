//! The rules that match each function of a profile, found once.

use proust_profile::{Function, FunctionId, Profile};
use rustc_hash::FxHashMap;

use super::name::plain;
use super::pattern::Patterns;
use super::rule::{Functions, RuleId, Rules, SectionId};

/// What part a function plays. Most play none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Role {
    /// Rules that name it, in order.
    pub(super) rules: Vec<RuleId>,
    /// Rules that want to be under it, in order.
    pub(super) completes: Vec<RuleId>,
    /// Sections whose searches pass it.
    pub(super) through: Vec<SectionId>,
}

/// Roles by function. Equal ones are one.
#[derive(Debug)]
pub(super) struct Roles {
    roles: Vec<Role>,
    of: Vec<u32>,
}

impl Roles {
    pub(super) fn of(rules: &Rules, profile: &Profile) -> Roles {
        let mut roles = vec![Role::default()];
        let mut known = FxHashMap::from_iter([(Role::default(), 0_u32)]);
        let mut of = Vec::with_capacity(profile.functions.len());
        for function in &profile.functions {
            let module = function.module.and_then(|id| profile.modules.get(id));
            let role = role(rules, function, module.map_or("", |module| module.name()));
            let next = roles.len() as u32;
            of.push(*known.entry(role).or_insert_with_key(|role| {
                roles.push(role.clone());
                next
            }));
        }
        Roles { roles, of }
    }

    /// None for a function without a role.
    pub(super) fn get(&self, function: FunctionId) -> Option<&Role> {
        match self.of.get(function.index()) {
            None | Some(0) => None,
            Some(&role) => self.roles.get(role as usize),
        }
    }
}

fn role(rules: &Rules, function: &Function, module: &str) -> Role {
    let names = Names { plain: &plain(&function.name), function };
    let mut role = Role::default();
    for (id, rule) in rules.rules.iter().enumerate() {
        if names.are(&rule.functions, module) {
            role.rules.push(id as RuleId);
        }
        if rule.under.as_ref().is_some_and(|under| names.fit(under)) {
            role.completes.push(id as RuleId);
        }
    }
    for through in &rules.through {
        if !role.through.contains(&through.section) && names.are(&through.functions, module) {
            role.through.push(through.section);
        }
    }
    role
}

/// Whether these are about a function.
pub(super) fn are_about(functions: &Functions, function: &Function, module: &str) -> bool {
    Names { plain: &plain(&function.name), function }.are(functions, module)
}

/// What a function is called.
struct Names<'f> {
    plain: &'f str,
    function: &'f Function,
}

impl Names<'_> {
    fn are(&self, functions: &Functions, module: &str) -> bool {
        functions.modules.as_ref().is_none_or(|modules| modules.matches(module)) && self.fit(&functions.names)
    }

    fn fit(&self, patterns: &Patterns) -> bool {
        let linkage = self.function.linkage_name.as_deref().filter(|&name| name != self.plain);
        patterns.matches(self.plain)
            || linkage.is_some_and(|linkage| patterns.matches(linkage))
            || (patterns.want_types() && patterns.matches(&self.function.full_name))
    }
}
