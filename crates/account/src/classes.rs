//! The class table: what a wait is, by the functions on its call path.
//!
//! An intercepted wait says little of itself: a futex may be a mutex, a barrier, or a worker without work.
//! Its meaning follows from its callers: rules name functions and give the class of waiting in them. The same
//! rules say which processor time is waiting, too: a worker that spins for work does not compute.
//!
//! A few rules are about threads instead: those that a runtime has for itself (`service`).
//!
//! Rules are text (`classes/standard.table`, and the user's own files); the form is described in the user
//! guide. A path is read from its innermost frame outwards, and only through frames that belong to a runtime:
//! the first one that no rule knows ends it. So code of the program, called by a runtime that waits further
//! out, is never taken for waiting.
//!
//! This module does not know what an interval between two clocks means; it only names it.

mod class;
mod error;
mod file;
mod name;
mod parse;
mod path;
mod pattern;
mod roles;
mod rule;
mod service;
#[cfg(test)]
mod tests;

pub use error::{ClassError, Problem};
pub use file::user_file;

use class::Class;
use path::{Found, find};
use roles::Roles;
use rule::{Moment, Origin, Rules};

use proust_profile::tables::digest;
use proust_profile::{ContextId, ContextKind, Nature, Profile};

use crate::ledger::{PassiveReason, State, Wait, Work};

const STANDARD: &str = include_str!("classes/standard.table");
/// Where errors in the built-in table would point to; a test reads it.
const STANDARD_FILE: &str = "standard.table";

/// Raised when the same rules give other answers.
const VERSION: u8 = 1;

/// Rules for waits: the built-in table, and what the user added to it.
#[derive(Clone, Debug)]
pub struct Classes {
    rules: Rules,
}

impl Classes {
    /// The built-in table.
    pub fn standard() -> Classes {
        let mut rules = Rules::default();
        // A test reads the table, so nothing is left out here.
        let _read = parse::parse(STANDARD_FILE, STANDARD, Origin::Standard, &mut rules);
        Classes { rules }
    }

    /// The rules that a profile was made by: the built-in ones, and the user's as they were then.
    pub fn of_profile(profile: &Profile) -> Classes {
        // They were read without error then; a damaged profile has none.
        Classes::standard()
            .with("the profile", &profile.facts.wait_rules)
            .unwrap_or_else(|_| Classes::standard())
    }

    /// With the rules in `text` before all that are there already. `file` is the name of the text in errors.
    ///
    /// # Errors
    /// [`ClassError`] with the first line that is no rule.
    pub fn with(self, file: &str, text: &str) -> Result<Classes, ClassError> {
        let mut rules = self.rules.emptied();
        parse::parse(file, text, Origin::User, &mut rules)?;
        rules.append(self.rules);
        Ok(Classes { rules })
    }

    /// A number that changes with every change of a rule, but not with comments and blanks.
    pub fn digest(&self) -> u64 {
        digest(format!("{VERSION}\n{}", self.rules).as_bytes())
    }

    /// The rules' classes of every context of `profile`.
    pub fn on(&self, profile: &Profile) -> ClassesOf {
        let roles = Roles::of(&self.rules, profile);
        let at = |moment| Findings::of(&self.rules, &roles, profile, moment);
        ClassesOf {
            in_operation: at(Moment::Blocked(None)),
            by_nature: (self.rules.natures().into_iter())
                .map(|nature| (nature, at(Moment::Blocked(Some(nature)))))
                .collect(),
            spinning: at(Moment::Spinning),
        }
    }
}

impl Classes {
    /// Which locations of a profile are threads that a runtime has for itself.
    pub fn services(&self, profile: &Profile) -> Vec<bool> {
        service::services(&self.rules, profile)
    }
}

/// The rules' classes at one kind of moment, by context.
#[derive(Clone, Debug)]
struct Findings(Vec<Option<Found>>);

impl Findings {
    fn of(rules: &Rules, roles: &Roles, profile: &Profile, moment: Moment) -> Findings {
        let mut findings: Vec<Option<Found>> = Vec::with_capacity(profile.contexts.len());
        for (id, context) in profile.contexts.iter().enumerate() {
            findings.push(match context.kind {
                ContextKind::Frame | ContextKind::Inline => {
                    find(rules, roles, profile, ContextId::from_index(id), moment)
                }
                // Lines and the like are inside the call above them.
                _ => context.parent.and_then(|parent| findings.get(parent.index()).copied()).flatten(),
            });
        }
        Findings(findings)
    }

    fn get(&self, context: ContextId) -> Option<Found> {
        self.0.get(context.index()).copied().flatten()
    }
}

/// The rules' classes of the contexts of a profile.
#[derive(Clone, Debug)]
pub struct ClassesOf {
    in_operation: Findings,
    /// For the natures that some rule asks for.
    by_nature: Vec<(Nature, Findings)>,
    spinning: Findings,
}

impl ClassesOf {
    /// What a thread does in an operation of this nature that was called in `context`.
    ///
    /// Where no rule knows the path, the nature alone decides; then I/O is [`Work::Io`], whatever it leads
    /// to, and giving the processor away is [`Work::Delayed`].
    pub fn wait(&self, context: ContextId, nature: Nature) -> State {
        self.by_path(context, nature).unwrap_or_else(|| by_nature(nature))
    }

    /// As [`ClassesOf::wait`], but None where no rule decides.
    pub fn by_path(&self, context: ContextId, nature: Nature) -> Option<State> {
        let of_nature = self.by_nature.iter().find(|(known, _)| *known == nature);
        let found = of_nature.map_or(&self.in_operation, |(_, findings)| findings).get(context)?;
        // A function whose name implies its wait is overruled by the user only.
        if says_what_it_is(nature) && found.origin == Origin::Standard {
            return None;
        }
        match found.class {
            Class::Wait(wait) if matches!(nature, Nature::Spin | Nature::Yield) => Some(State::Polling(wait)),
            Class::Wait(wait) => Some(State::Waiting(wait)),
            Class::Passive(reason) => Some(State::Passive(reason)),
            Class::Runtime => Some(State::Working(Work::Runtime)),
            Class::MpiTransfer => Some(State::Working(Work::MpiTransfer)),
            Class::Work => None,
        }
    }

    /// What processor time in `context` is, where it is waiting or a runtime's own; None for everything else.
    pub fn spin(&self, context: ContextId) -> Option<State> {
        match self.spinning.get(context)?.class {
            Class::Wait(wait) => Some(State::Polling(wait)),
            Class::Passive(reason) => Some(State::Passive(reason)),
            Class::Runtime => Some(State::Working(Work::Runtime)),
            Class::MpiTransfer => Some(State::Working(Work::MpiTransfer)),
            Class::Work => None,
        }
    }
}

/// Whether the function that was called determines by itself what it waits for.
fn says_what_it_is(nature: Nature) -> bool {
    matches!(
        nature,
        Nature::Lock
            | Nature::Barrier
            | Nature::Join
            | Nature::Process
            | Nature::Accept
            | Nature::Runtime
            | Nature::Pool
            | Nature::Message
            | Nature::Collective
            | Nature::Communicate
            | Nature::Local
    )
}

fn by_nature(nature: Nature) -> State {
    match nature {
        Nature::Lock => State::Waiting(Wait::Lock),
        Nature::Spin => State::Polling(Wait::Lock),
        Nature::Barrier => State::Waiting(Wait::Barrier),
        Nature::Condition => State::Passive(PassiveReason::Condition),
        Nature::Semaphore => State::Passive(PassiveReason::Semaphore),
        Nature::Join => State::Passive(PassiveReason::Join),
        Nature::Sleep => State::Passive(PassiveReason::Sleep),
        Nature::Yield => State::Working(Work::Delayed),
        Nature::Poll => State::Passive(PassiveReason::Poll),
        Nature::Process => State::Passive(PassiveReason::Wait),
        Nature::Signal => State::Passive(PassiveReason::Signal),
        Nature::Pause => State::Passive(PassiveReason::Pause),
        Nature::Accept => State::Passive(PassiveReason::Accept),
        Nature::Queue => State::Passive(PassiveReason::Queue),
        Nature::Futex => State::Passive(PassiveReason::Futex),
        Nature::Read | Nature::Write | Nature::Transfer | Nature::Manage => State::Working(Work::Io),
        // Never operations of their own.
        Nature::Release | Nature::Wake => State::Working(Work::Compute),
        Nature::Runtime | Nature::Local => State::Working(Work::Runtime),
        Nature::Pool => State::Passive(PassiveReason::Pool),
        Nature::Message | Nature::Collective | Nature::Communicate => State::Working(Work::MpiTransfer),
    }
}
