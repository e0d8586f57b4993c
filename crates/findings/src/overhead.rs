//! Which processor time goes into handing out work and waiting for each other, and not into the work.
//!
//! The functions below the program's innermost one are examined: if a function that synchronises threads,
//! starts them or schedules tasks is among it, the time is overhead. A table of names, since nothing marks
//! such code.

use proust_profile::{ContextId, ContextKind, Profile};

use super::place::Places;

/// How such functions begin.
const BEGINNINGS: [&str; 24] = [
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
];

/// What such functions have in their names.
const PARTS: [&str; 3] = ["futex_w", "::futex::", "tokio::runtime::scheduler"];

/// Functions that only look as if.
const HARMLESS: [&str; 3] = ["pthread_self", "pthread_getspecific", "pthread_once"];

/// By context.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overhead(Vec<bool>);

impl Overhead {
    pub(crate) fn of(profile: &Profile) -> Overhead {
        // Whether threads wait for each other somewhere plays no part here.
        Overhead::by(profile, &Places::new(profile, &[]))
    }

    pub(super) fn by(profile: &Profile, places: &Places<'_>) -> Overhead {
        let is_one: Vec<bool> = (profile.functions.iter())
            .map(|function| {
                let name = if function.full_name.is_empty() { &function.name } else { &function.full_name };
                let name = name.trim_start_matches(['<', '&']).trim_start_matches("__GI_");
                !HARMLESS.contains(&name)
                    && (BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
                        || PARTS.iter().any(|part| name.contains(part)))
            })
            .collect();
        let mut of = vec![false; profile.contexts.len()];
        for (id, context) in profile.contexts.iter().enumerate() {
            let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
            let named = is_call && context.function.is_some_and(|function| is_one[function.index()]);
            let above = context.parent.is_some_and(|parent| of[parent.index()]);
            // A function of the program that a runtime calls is work again.
            let is_own = is_call && places.own(ContextId::from_index(id)).index() == id && !named;
            of[id] = named || (above && !is_own);
        }
        Overhead(of)
    }

    pub(crate) fn has(&self, context: ContextId) -> bool {
        self.0.get(context.index()) == Some(&true)
    }
}
