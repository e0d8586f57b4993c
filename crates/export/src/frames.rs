//! What is on a call path, and what it is called.

use std::collections::HashMap;

use proust_profile::{Context, ContextId, ContextKind, FunctionId, IntervalId, Profile};

/// What a frame is a frame of. Two frames of one subject have one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A function, or a region by the name that the source gives it.
    Function(FunctionId),
    /// A marked interval.
    Interval(IntervalId),
    /// What has no other name.
    Kind(ContextKind),
}

/// A frame of a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// What it is a frame of.
    pub subject: Subject,
    /// The line that was executed there: of the innermost frame the sample's, of the others that of the call.
    pub line: Option<u32>,
}

/// The frames of a profile.
#[derive(Debug)]
pub struct Frames<'p> {
    profile: &'p Profile,
    intervals: HashMap<ContextId, IntervalId>,
}

impl<'p> Frames<'p> {
    /// Those of a profile.
    pub fn of(profile: &'p Profile) -> Frames<'p> {
        let places = profile.interval_contexts.iter();
        Frames { profile, intervals: places.map(|place| (place.context, place.interval)).collect() }
    }

    /// The call path of a context, the outermost frame first. It is never empty: what has no path is below
    /// the program itself.
    pub fn path(&self, context: ContextId) -> Vec<Frame> {
        let contexts = &self.profile.contexts;
        let mut path = Vec::new();
        let mut line = None;
        let mut next = Some(context);
        while let Some(id) = next {
            let at = &contexts[id];
            match at.kind {
                ContextKind::Line => line = at.line,
                ContextKind::Loop | ContextKind::Program => {}
                _ => {
                    path.push(Frame { subject: self.subject(id, at), line });
                    line = at.line;
                }
            }
            next = at.parent;
        }
        if path.is_empty() {
            path.push(Frame { subject: Subject::Kind(ContextKind::Program), line: None });
        }
        path.reverse();
        path
    }

    fn subject(&self, id: ContextId, context: &Context) -> Subject {
        match (self.intervals.get(&id), context.function) {
            (Some(&interval), _) => Subject::Interval(interval),
            (None, Some(function)) => Subject::Function(function),
            (None, None) => Subject::Kind(context.kind),
        }
    }

    /// What a frame is called, in one line.
    pub fn name(&self, subject: Subject) -> String {
        let name = match subject {
            Subject::Function(function) => self.profile.functions[function].name.clone(),
            Subject::Interval(interval) => self.profile.intervals[interval as usize].label(),
            Subject::Kind(ContextKind::Program) => "[no call path]".into(),
            Subject::Kind(ContextKind::Partial) => "[incomplete paths]".into(),
            Subject::Kind(kind) => format!("[{}]", kind.id()),
        };
        let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if name.trim().is_empty() { "[no name]".into() } else { name }
    }

    /// The file of its source, where it is known.
    pub fn file(&self, subject: Subject) -> Option<&'p str> {
        match subject {
            Subject::Function(function) => self.profile.functions[function].file.as_deref(),
            Subject::Interval(interval) => self.profile.intervals[interval as usize].file.as_deref(),
            Subject::Kind(_) => None,
        }
    }

    /// The line where it is declared or begins, where that is known.
    pub fn declared_at(&self, subject: Subject) -> Option<u32> {
        match subject {
            Subject::Function(function) => self.profile.functions[function].line,
            Subject::Interval(interval) => self.profile.intervals[interval as usize].line,
            Subject::Kind(_) => None,
        }
    }

    /// Its function, if it is one.
    pub fn function(&self, subject: Subject) -> Option<&'p proust_profile::Function> {
        match subject {
            Subject::Function(function) => Some(&self.profile.functions[function]),
            _ => None,
        }
    }
}
