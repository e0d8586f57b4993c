//! A number that may have no source.

/// What operations say about a column of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Cell {
    /// Nothing: the column is not about them.
    #[default]
    Silent,
    /// It is about them, and not known.
    Unknown,
    /// So much, ns.
    Ns(u64),
}

impl Cell {
    /// This and more: not known as soon as one is not known.
    pub(super) fn and(self, more: Cell) -> Cell {
        match (self, more) {
            (Cell::Unknown, _) | (_, Cell::Unknown) => Cell::Unknown,
            (Cell::Silent, other) | (other, Cell::Silent) => other,
            (Cell::Ns(a), Cell::Ns(b)) => Cell::Ns(a + b),
        }
    }

    /// The amount, where it is known.
    pub(super) fn ns(self) -> Option<u64> {
        match self {
            Cell::Ns(ns) => Some(ns),
            Cell::Silent | Cell::Unknown => None,
        }
    }
}

impl From<Option<u64>> for Cell {
    fn from(ns: Option<u64>) -> Cell {
        ns.map_or(Cell::Unknown, Cell::Ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_stays_so() {
        assert_eq!(Cell::Ns(1).and(Cell::Ns(2)), Cell::Ns(3));
        assert_eq!(Cell::Silent.and(Cell::Ns(2)).ns(), Some(2));
        assert_eq!(Cell::Ns(1).and(Cell::Unknown).and(Cell::Silent), Cell::Unknown);
    }
}
