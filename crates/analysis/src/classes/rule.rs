//! Rules, and the sections they stand in.

use std::fmt;

use super::class::Class;
use super::pattern::Patterns;

/// Position of a rule among all rules: an earlier one goes first.
pub(super) type RuleId = u32;
/// Position of a section's name. [`EVERYWHERE`] is what stands before the first header.
pub(super) type SectionId = u32;

/// The section without a name: its frames are passed on every path.
pub(super) const EVERYWHERE: SectionId = 0;

/// Where a rule came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The built-in table.
    Standard,
    /// A file of the user's.
    User,
}

/// What a thread was seen doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Blocked in an intercepted operation.
    Blocked,
    /// Taking processor time.
    Spinning,
}

/// How much a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// It ends the search.
    Final,
    /// It holds unless a rule matches further out: other things are built of this function.
    Weak,
}

/// Functions by name, in any module or in some.
#[derive(Clone, Debug)]
pub(super) struct Functions {
    pub(super) names: Patterns,
    /// None: in any module.
    pub(super) modules: Option<Patterns>,
}

/// Time in a function counts as a class.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) class: Class,
    pub(super) functions: Functions,
    /// The rule holds only if one of these is met further out; the nearest rule that is met wins.
    pub(super) under: Option<Patterns>,
    /// None: always.
    pub(super) when: Option<Moment>,
    pub(super) strength: Strength,
    /// The rule holds only if no other matched further in.
    pub(super) direct: bool,
    pub(super) section: SectionId,
    pub(super) origin: Origin,
}

/// Frames that a search passes once a rule of their section has matched.
#[derive(Clone, Debug)]
pub(super) struct Through {
    pub(super) functions: Functions,
    pub(super) section: SectionId,
}

/// Rules in the order in which they are tried.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    pub(super) through: Vec<Through>,
    /// Names by [`SectionId`].
    sections: Vec<String>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { rules: Vec::new(), through: Vec::new(), sections: vec![String::new()] }
    }
}

impl Rules {
    /// No rules, but the same sections, so that new rules can join them.
    pub(super) fn emptied(&self) -> Rules {
        Rules { sections: self.sections.clone(), ..Rules::default() }
    }

    /// The section with this name; equal names are one section.
    pub(super) fn section(&mut self, name: &str) -> SectionId {
        let position = self.sections.iter().position(|known| known == name).unwrap_or_else(|| {
            self.sections.push(name.to_owned());
            self.sections.len() - 1
        });
        position as SectionId
    }

    /// Rules after these. Their sections must be the first of these ([`Rules::emptied`]).
    pub(super) fn append(&mut self, later: Rules) {
        self.rules.extend(later.rules);
        self.through.extend(later.through);
    }

    /// Whether the user has rules.
    pub(super) fn has_users(&self) -> bool {
        self.rules.first().is_some_and(|rule| rule.origin == Origin::User)
    }

    fn section_name(&self, id: SectionId) -> &str {
        self.sections.get(id as usize).map_or("", String::as_str)
    }
}

impl fmt::Display for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.names.fmt(f)?;
        self.modules.as_ref().map_or(Ok(()), |modules| write!(f, " in {modules}"))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.class, self.functions)?;
        if let Some(under) = &self.under {
            write!(f, " under {under}")?;
        }
        match self.when {
            Some(Moment::Blocked) => f.write_str(" when blocked")?,
            Some(Moment::Spinning) => f.write_str(" when spinning")?,
            None => {}
        }
        if self.direct {
            f.write_str(" direct")?;
        }
        match self.strength {
            Strength::Weak => f.write_str(" weak"),
            Strength::Final => Ok(()),
        }
    }
}

/// Every rule and its section, and where it came from: what decides is in here, and nothing else.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.rules {
            writeln!(f, "{:?} [{}] {rule}", rule.origin, self.section_name(rule.section))?;
        }
        for through in &self.through {
            writeln!(f, "[{}] through {}", self.section_name(through.section), through.functions)?;
        }
        Ok(())
    }
}
