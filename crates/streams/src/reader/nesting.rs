//! The operations that enclose the current one, while a stream is read backwards.

use crate::record::Record;

/// Memory of a backward pass: as many records as are nested, however long they are.
#[derive(Clone, Debug)]
pub struct Nesting<R> {
    open: Vec<R>,
}

impl<R> Default for Nesting<R> {
    fn default() -> Nesting<R> {
        Nesting { open: Vec::new() }
    }
}

impl<R: Record> Nesting<R> {
    /// Takes the next record backwards, and answers those that enclose it, the outermost first. A record
    /// whose own enclosing record was lost has those that are known.
    pub fn enter(&mut self, record: R) -> &[R] {
        while self.open.last().is_some_and(|top| {
            top.depth() >= record.depth()
                || top.begin_ns() > record.begin_ns()
                || top.end_ns() < record.end_ns()
        }) {
            self.open.pop();
        }
        self.open.push(record);
        &self.open[..self.open.len() - 1]
    }
}
