//! Each thread's state of parallel regions for the thread that has taken its record; the rest is [`Member`].

use super::member::Member;
use super::regions::Regions;
use super::sites::Sites;
use super::tasks::Tasks;
use crate::operation::threshold::Limit;

/// State that only the thread that has taken the record uses.
pub struct Owned {
    /// The thread's place.
    pub member: &'static Member,
    /// The parallel regions that it opened.
    pub regions: Regions,
    /// Its sums by site.
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
