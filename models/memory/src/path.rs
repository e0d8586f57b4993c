//! Paths, without real code: see [`modules`].

#[path = "../../../crates/collector/src/path"]
mod collector {
    pub mod memo;
    pub mod rule;
    pub mod stack;
    pub mod tree;
}

pub use collector::{memo, rule, stack, tree};

use module::Module;
use tree::{Frame, NodeId};

/// Receives what paths are made of.
pub trait Announce {
    fn module(&mut self, module: &Module);
    fn node(&mut self, id: NodeId, frame: &Frame);
}

pub mod coroutine {
    /// There are no coroutines.
    pub fn ends_at(_: u64) -> bool {
        false
    }
}

pub mod python {
    use super::Announce;
    use super::stack::StackReader;
    use super::tree::{NodeId, Tree};

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Evaluation {
        #[default]
        No,
        Counted,
    }

    /// There is no interpreter of Python.
    #[derive(Default)]
    pub struct Python;

    impl Python {
        pub fn look(&mut self, _: u32, _: &StackReader) -> bool {
            false
        }

        /// # Safety
        /// None is needed.
        pub unsafe fn look_at_rest(&mut self, _: u32, _: &StackReader) -> bool {
            false
        }

        /// # Safety
        /// None is needed.
        pub unsafe fn print_at_rest(&mut self, _: &StackReader) -> u64 {
            0
        }

        pub fn print_at_once(&mut self, _: u32, _: &mut dyn Announce) -> u64 {
            0
        }

        pub fn print(&mut self) -> u64 {
            0
        }

        pub fn has_markers(&self) -> bool {
            false
        }

        pub fn look_away(&mut self) {}

        pub fn evaluation(&mut self, _: u64, _: u64, _: u64) -> Evaluation {
            Evaluation::No
        }

        pub fn seen(&mut self, _: usize, _: u32, _: &mut dyn Announce) {}

        pub fn node(
            &mut self,
            _: Evaluation,
            _: usize,
            _: NodeId,
            _: &mut Tree,
            _: &mut dyn Announce,
        ) -> Option<NodeId> {
            None
        }
    }
}

pub mod module {
    use super::rule::RuleTable;
    use crate::arch::unwinding::Tables;

    /// A module as far as paths look at it.
    pub struct Module {
        pub id: u32,
        pub start: u64,
        pub end: u64,
        pub own: bool,
        pub permanent: bool,
        pub unwinder: Option<Tables<&'static [u8]>>,
        pub rules: RuleTable,
    }
}

/// One module with functions of known shapes.
pub mod modules {
    use std::sync::OnceLock;

    use super::Announce;
    use super::module::Module;
    use super::rule::RuleTable;

    pub const START: u64 = 0x40_0000;
    pub const FUNCTION_BYTES: u64 = 0x100;
    pub const FUNCTIONS: u64 = 64;

    pub fn generation() -> u32 {
        1
    }

    pub fn find(address: u64, _: &mut dyn Announce) -> Option<&'static Module> {
        static ONLY: OnceLock<Module> = OnceLock::new();
        let module = ONLY.get_or_init(|| Module {
            id: 1,
            start: START,
            end: START + FUNCTIONS * FUNCTION_BYTES,
            own: false,
            permanent: true,
            unwinder: None,
            rules: RuleTable::new(FUNCTIONS * FUNCTION_BYTES),
        });
        (module.start..module.end).contains(&address).then_some(module)
    }
}

pub mod rules {
    use super::module::Module;
    pub use super::rule::{Rule, RuleTable};
    pub use crate::arch::unwinding::StepCache;
    use crate::stacks;

    /// By the function's shape; kept in the module's table as the collector does.
    pub fn rule_at(module: &Module, lookup: u64, exact: bool) -> Rule {
        let key = ((lookup - module.start) as u32) << 1 | u32::from(exact);
        module.rules.get(key).unwrap_or_else(|| {
            let rule = stacks::shape_of(lookup);
            module.rules.put(key, rule);
            rule
        })
    }

    /// No rule here is slow.
    pub fn with_step_cache<R>(_: impl FnOnce(&mut StepCache) -> R) -> Option<R> {
        None
    }
}
