//! Lines of one place as one line: functions are called on many paths, and the tables show no paths.

use std::collections::BTreeMap;

/// A line that can stand for several of the same place.
pub(super) trait Placed: Clone {
    /// What the table shows of its place: lines with the same are one.
    fn place(&self) -> String;
    /// Adds what another line of the same place has.
    fn add(&mut self, other: &Self);
    /// What lines are ordered by, largest first.
    fn amount_s(&self) -> f64;
}

/// One line a place, largest first.
pub(super) fn by_place<'l, T: Placed + 'l>(lines: impl IntoIterator<Item = &'l T>) -> Vec<T> {
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    let mut merged: Vec<T> = Vec::new();
    for line in lines {
        match at.get(&line.place()) {
            Some(&at) => merged[at].add(line),
            None => {
                at.insert(line.place(), merged.len());
                merged.push(line.clone());
            }
        }
    }
    merged.sort_by(|a, b| b.amount_s().total_cmp(&a.amount_s()));
    merged
}
