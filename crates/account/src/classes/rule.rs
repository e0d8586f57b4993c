//! Rules, and their sections.

use proust_profile::Nature;

use std::fmt;

use super::class::Class;
use super::pattern::Patterns;

/// Position of a rule among all rules: an earlier one goes first.
pub(super) type RuleId = u32;
/// Position of a section's name. [`EVERYWHERE`] is what stands before the first header.
pub(super) type SectionId = u32;

/// The section without a name: its frames are passed on every path.
pub(super) const EVERYWHERE: SectionId = 0;

/// The source of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The built-in table.
    Standard,
    /// A file of the user's.
    User,
}

/// When a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// While the thread is in an intercepted operation.
    Blocked,
    /// While it is in an operation of this nature.
    In(Nature),
    /// While it takes processor time.
    Spinning,
}

/// What a thread was seen doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// In an intercepted operation, of a nature that rules ask for or of any other.
    Blocked(Option<Nature>),
    /// Taking processor time.
    Spinning,
}

impl When {
    /// Natures by the words of rules.
    const NATURES: [(&'static str, Nature); 15] = [
        ("lock", Nature::Lock),
        ("trylock", Nature::Spin),
        ("barrier", Nature::Barrier),
        ("condition", Nature::Condition),
        ("semaphore", Nature::Semaphore),
        ("join", Nature::Join),
        ("sleep", Nature::Sleep),
        ("yield", Nature::Yield),
        ("poll", Nature::Poll),
        ("process", Nature::Process),
        ("signal", Nature::Signal),
        ("queue", Nature::Queue),
        ("futex", Nature::Futex),
        ("read", Nature::Read),
        ("write", Nature::Write),
    ];

    pub(super) fn from_word(word: &str) -> Option<When> {
        match word {
            "blocked" => Some(When::Blocked),
            "spinning" => Some(When::Spinning),
            _ => When::NATURES
                .into_iter()
                .find(|(known, _)| *known == word)
                .map(|(_, nature)| When::In(nature)),
        }
    }

    /// All words, as messages list them.
    pub(super) fn words() -> Vec<&'static str> {
        ["blocked", "spinning"].into_iter().chain(When::NATURES.into_iter().map(|(word, _)| word)).collect()
    }

    fn word(self) -> &'static str {
        match self {
            When::Blocked => "blocked",
            When::Spinning => "spinning",
            When::In(nature) => {
                When::NATURES.iter().find(|(_, known)| *known == nature).map_or("", |(word, _)| word)
            }
        }
    }

    pub(super) fn holds(self, moment: Moment) -> bool {
        match (self, moment) {
            (When::Blocked, Moment::Blocked(_)) | (When::Spinning, Moment::Spinning) => true,
            (When::In(asked), Moment::Blocked(Some(nature))) => asked == nature,
            _ => false,
        }
    }
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
    pub(super) when: Option<When>,
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

/// Threads that are internal to a runtime.
#[derive(Clone, Debug)]
pub(super) enum Service {
    /// Those whose outermost function is one of these.
    Start(Functions),
    /// Those with such a name; where modules are given, only if their outermost function is in one.
    Named(Functions),
}

/// Rules in the order in which they are tried.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    pub(super) through: Vec<Through>,
    pub(super) services: Vec<Service>,
    /// Names by [`SectionId`].
    sections: Vec<String>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { rules: Vec::new(), through: Vec::new(), services: Vec::new(), sections: vec![String::new()] }
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
        self.services.extend(later.services);
    }

    /// The natures that some rule asks for.
    pub(super) fn natures(&self) -> Vec<Nature> {
        let mut natures = Vec::new();
        for rule in &self.rules {
            match rule.when {
                Some(When::In(nature)) if !natures.contains(&nature) => natures.push(nature),
                _ => {}
            }
        }
        natures
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
        if let Some(when) = self.when {
            write!(f, " when {}", when.word())?;
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

/// Every rule, its section and its source: what decides is in here, and nothing else.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.rules {
            writeln!(f, "{:?} [{}] {rule}", rule.origin, self.section_name(rule.section))?;
        }
        for through in &self.through {
            writeln!(f, "[{}] through {}", self.section_name(through.section), through.functions)?;
        }
        for service in &self.services {
            match service {
                Service::Start(functions) => writeln!(f, "service {functions}")?,
                Service::Named(names) => writeln!(f, "service named {names}")?,
            }
        }
        Ok(())
    }
}
