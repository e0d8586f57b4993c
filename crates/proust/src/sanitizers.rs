//! Sanitizers that a program is built with: their checks are part of the measurement, and AddressSanitizer
//! wants to be the first library.

use std::fmt;
use std::path::Path;

use object::elf;

use crate::symbol_table::each_name;

/// The variable with AddressSanitizer's options.
pub const ADDRESS_VARIABLE: &str = "ASAN_OPTIONS";
/// The option by which it does not mind a library before its own.
pub const ANY_ORDER: &str = "verify_asan_link_order=0";

/// What a program is built with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sanitizers {
    names: Vec<&'static str>,
    answers_address: bool,
}

/// A function of each run time, by which it is known whether it is linked in or a library.
const KNOWN: [(&str, &str); 6] = [
    ("__asan_init", "AddressSanitizer"),
    ("__tsan_init", "ThreadSanitizer"),
    ("__msan_init", "MemorySanitizer"),
    ("__hwasan_init", "HWAddressSanitizer"),
    ("__lsan_init", "LeakSanitizer"),
    ("__ubsan_handle_", "UndefinedBehaviorSanitizer"),
];

impl Sanitizers {
    /// Looks into a program file; one that cannot be read has none.
    pub fn of(path: &Path) -> Sanitizers {
        read(path).unwrap_or_default()
    }

    /// Whether there is one.
    pub fn are_there(&self) -> bool {
        !self.names.is_empty()
    }

    /// What AddressSanitizer's variable must be, with what the user has put into it, where the program
    /// answers for its options itself and the collector cannot.
    pub fn address_options(&self, users: Option<&str>) -> Option<String> {
        let users = users.filter(|users| !users.is_empty());
        self.answers_address.then(|| match users {
            // Later options win.
            Some(users) => format!("{ANY_ORDER}:{users}"),
            None => ANY_ORDER.to_owned(),
        })
    }
}

impl Sanitizers {
    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.names.iter().map(|&name| name.to_owned()).collect()
    }
}

impl fmt::Display for Sanitizers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.names.join(" and "))
    }
}

fn read(path: &Path) -> Option<Sanitizers> {
    let mut found = Sanitizers::default();
    let mut linked_in = None;
    // A run time that is linked in shows in the full table only.
    each_name(path, |name| {
        if let Some(known) = KNOWN.iter().position(|(function, _)| name.starts_with(function.as_bytes())) {
            let (_, sanitizer) = KNOWN[known];
            if name.is_defined {
                // A run time includes the functions of lesser ones, which follow it.
                linked_in = Some(linked_in.map_or(known, |other: usize| other.min(known)));
            } else if name.binding != elf::STB_WEAK && !found.names.contains(&sanitizer) {
                // A weak reference is one of a run time that can do without the function.
                found.names.push(sanitizer);
            }
        }
        // The run time has an answer of its own, which is weak and counts for nothing.
        found.answers_address |=
            name.is(b"__asan_default_options") && name.is_defined && name.binding == elf::STB_GLOBAL;
    })?;
    // A function that is referred to is called.
    if let Some((_, sanitizer)) = linked_in.and_then(|known| KNOWN.get(known))
        && found.names.is_empty()
    {
        found.names.push(sanitizer);
    }
    if found.names.contains(&KNOWN[0].1) {
        found.names.retain(|name| *name == KNOWN[0].1 || *name == KNOWN[5].1);
    } else {
        found.answers_address = false;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_options_are_kept_and_win() {
        let answers = Sanitizers { names: vec!["AddressSanitizer"], answers_address: true };
        assert_eq!(answers.address_options(None).as_deref(), Some("verify_asan_link_order=0"));
        assert_eq!(
            answers.address_options(Some("exitcode=3")).as_deref(),
            Some("verify_asan_link_order=0:exitcode=3")
        );
        let silent = Sanitizers { answers_address: false, ..answers };
        assert_eq!(silent.address_options(Some("exitcode=3")), None);
    }

    #[test]
    fn an_ordinary_program_has_none() {
        let itself = Sanitizers::of(&std::env::current_exe().unwrap());
        assert!(!itself.are_there(), "{itself}");
        assert!(!Sanitizers::of(Path::new("/no/such/file")).are_there());
    }
}
