//! What parallel regions keep of each thread for whoever has taken its record; the rest is [`Member`].

use super::member::Member;
use super::regions::Regions;
use super::sites::Sites;
use super::tasks::Tasks;
use crate::operation::threshold::Limit;

/// What only the thread that has taken the record uses.
pub struct Owned {
    /// What the thread is in.
    pub member: &'static Member,
    /// The parallel regions that it opened.
    pub regions: Regions,
    /// What it did in them.
    pub sites: Sites,
    /// The tasks that it is in.
    pub tasks: Tasks,
    /// From which length on its stays in them are recorded alone.
    pub stay_limit: Limit,
}

impl Owned {
    /// Of the thread that `member` speaks of.
    pub fn new(member: &'static Member) -> Owned {
        Owned {
            member,
            regions: Regions::default(),
            sites: Sites::default(),
            tasks: Tasks::default(),
            stay_limit: Limit::default(),
        }
    }

    /// A thread begins.
    pub fn begin(&mut self) {
        self.sites.forget();
        self.tasks.forget();
        self.stay_limit = Limit::default();
    }
}
