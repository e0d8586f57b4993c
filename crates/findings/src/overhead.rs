//! Which processor time goes into handing out work and waiting for each other, and not into the work.
//!
//! The functions below the program's innermost one are examined: if a function that synchronises threads,
//! starts them or schedules tasks is among it, the time is overhead. A table of names, since nothing marks
//! such code.

use proust_profile::{ContextId, ContextKind, Profile};

use super::place::Places;

/// How such functions begin.
const BEGINNINGS: [&str; 25] = [
    "pthread_",
    "__pthread_",
    "___pthread_",
    "__lll_",
    "lll_",
    "futex",
    "__futex",
    "sem_",
    "__new_sem_",
    "__sem_",
    "sched_yield",
    "__sched_yield",
    "thrd_",
    "cnd_",
    "mtx_",
    "clone",
    "__clone",
    "start_thread",
    "rayon_core::",
    "crossbeam_",
    "GOMP_",
    "gomp_",
    "__kmp",
    "tbb::detail::r1::",
    "tbb::detail::d1::",
];

/// What such functions have in their names.
const PARTS: [&str; 3] = ["futex_w", "::futex::", "tokio::runtime::scheduler"];

/// Functions that only look as if.
const HARMLESS: [&str; 3] = ["pthread_self", "pthread_getspecific", "pthread_once"];

/// What a scheduler calls for a task, as its templates are compiled into the program: what is below, and is
/// not the program's, divides the work and keeps account of it. Above it the scheduler looks for tasks and
/// waits.
const TASKS: [(&str, &str); 1] = [("tbb::detail::d1::", "::execute")];

/// By context.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overhead {
    is_overhead: Vec<bool>,
    is_of_task: Vec<bool>,
}

impl Overhead {
    pub(crate) fn of(profile: &Profile) -> Overhead {
        // Whether threads wait for each other somewhere plays no part here.
        Overhead::by(profile, &Places::new(profile, &[]))
    }

    pub(super) fn by<'p>(profile: &'p Profile, places: &Places<'_>) -> Overhead {
        // A template's full name begins with what it returns.
        let names = || profile.functions.iter().map(|function| [&function.name, &function.full_name]);
        let bare = |name: &'p str| name.trim_start_matches(['<', '&']).trim_start_matches("__GI_");
        let is_named = |name: &str| {
            !HARMLESS.contains(&name)
                && (BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
                    || PARTS.iter().any(|part| name.contains(part)))
        };
        let is_one: Vec<bool> =
            names().map(|names| names.into_iter().any(|name| is_named(bare(name)))).collect();
        let is_task_name = |name: &str| {
            TASKS.iter().any(|(beginning, part)| name.starts_with(beginning) && name.contains(part))
        };
        let is_task: Vec<bool> =
            names().map(|names| names.into_iter().any(|name| is_task_name(bare(name)))).collect();
        let mut of = Overhead {
            is_overhead: vec![false; profile.contexts.len()],
            is_of_task: vec![false; profile.contexts.len()],
        };
        for (id, context) in profile.contexts.iter().enumerate() {
            let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
            let function = context.function.filter(|_| is_call);
            let named = function.is_some_and(|function| is_one[function.index()]);
            // A function of the program that a runtime calls is work again.
            let is_own = is_call && places.own(ContextId::from_index(id)).index() == id && !named;
            let above = context.parent.map(|parent| parent.index()).filter(|_| !is_own);
            of.is_overhead[id] = named || above.is_some_and(|above| of.is_overhead[above]);
            of.is_of_task[id] = function.is_some_and(|function| is_task[function.index()])
                || above.is_some_and(|above| of.is_of_task[above]);
        }
        of
    }

    pub(crate) fn has(&self, context: ContextId) -> bool {
        self.is_overhead.get(context.index()) == Some(&true)
    }

    /// Whether a scheduler spends it on a task that it has.
    pub(super) fn is_of_task(&self, context: ContextId) -> bool {
        self.is_of_task.get(context.index()) == Some(&true)
    }
}
