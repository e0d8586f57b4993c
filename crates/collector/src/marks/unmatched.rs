//! Marks that end nothing: counted by what they wanted to end, and where.

use proust_log::records::{self, Subject};

use super::definitions::next_number;
use super::mark::{Mark, Name};
use crate::lane::{Output, Record};
use crate::life::Life;

/// So many different ones of a thread are distinguished; further ones are counted with the last of these.
const MOST: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    name: Name,
    number: i64,
    line: u32,
    node: u32,
    /// Of its texts; 0 = free.
    id: u32,
    count: u32,
    time_ns: u64,
}

/// Those of a thread.
#[derive(Debug, Default)]
pub struct Unmatched {
    kinds: [Kind; MOST],
}

impl Unmatched {
    /// The lane's next thread begins.
    pub fn forget(&mut self) {
        self.kinds = Default::default();
    }

    /// Writes those since the last time.
    pub fn write(&mut self, output: &mut Output) {
        for kind in self.kinds.iter_mut().filter(|kind| kind.count > 0) {
            let Kind { number, line, node, id, time_ns, .. } = *kind;
            let count = core::mem::take(&mut kind.count);
            output.push(0, 0, &records::Unmatched { time_ns, number, id, node, line, count });
        }
    }
}

/// Notes one. With all signals blocked.
#[cold]
#[inline(never)]
pub fn note(life: &Life, record: &mut Record, mark: &Mark<'_>, time_ns: u64) {
    record.marks.make();
    let name = mark.name();
    // Marks that name their line are distinguished by it.
    let node = if mark.line == 0 { node_of(life, record, mark, time_ns) } else { 0 };
    let is_it = |kind: &Kind| {
        let is_there = node == 0 || kind.node == node;
        kind.id != 0 && kind.name == name && (kind.number, kind.line) == (mark.number, mark.line) && is_there
    };
    let known = record.marks.of_thread().and_then(|of_thread| {
        let kinds = &mut of_thread.unmatched.kinds;
        let at = kinds
            .iter()
            .position(is_it)
            .or_else(|| kinds.iter().all(|kind| kind.id != 0).then_some(MOST - 1));
        kinds.get_mut(at?)
    });
    if let Some(kind) = known {
        if kind.count == 0 {
            kind.time_ns = time_ns;
        }
        kind.count = kind.count.saturating_add(1);
        return;
    }
    let id = next_number();
    record.output.push_text(Subject::IntervalName, id, &mark.text());
    if !mark.file.is_empty() {
        record.output.push_text(Subject::IntervalFile, id, mark.file);
    }
    let Some(of_thread) = record.marks.of_thread() else { return };
    if let Some(free) = of_thread.unmatched.kinds.iter_mut().find(|kind| kind.id == 0) {
        *free = Kind { name, number: mark.number, line: mark.line, node, id, count: 1, time_ns };
    }
}

/// The node of the call, if it is known or may be looked for.
fn node_of(life: &Life, record: &mut Record, mark: &Mark<'_>, time_ns: u64) -> u32 {
    let name = mark.name();
    let Some(of_thread) = record.marks.of_thread() else { return 0 };
    let known = of_thread.paths.find(&mark.state, name);
    if known != 0 || !of_thread.allowance.takes(time_ns) || !record.output.is_open() {
        return known;
    }
    let (node, flags) = record.path(mark.state, life.pid);
    let Record { marks, memo, .. } = record;
    if flags == 0
        && node != 0
        && let Some(of_thread) = marks.of_thread()
    {
        of_thread.paths.keep(&mark.state, name, node, memo);
    }
    node
}
