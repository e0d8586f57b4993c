//! Where the processor time outside operations is charged.
//!
//! A sample that fell into an operation gives no place for the computation before it: charging that to its
//! context would give call sites of operations more than their share.

use proust_profile::{ContextId, SampleRow};

/// For each row of a location, and for the time behind the last one: the context of the next sample that fell
/// into no operation; where there is none of the previous such; where there is none at all of the row itself.
///
/// Time of lost records stays theirs (`is_lost`), and is charged to no other row.
pub(super) fn charged(rows: &[SampleRow], is_lost: impl Fn(&SampleRow) -> bool) -> Vec<ContextId> {
    let mut charged: Vec<ContextId> = rows.iter().map(|row| row.context).collect();
    let takes = |row: &SampleRow| !row.in_operation && !is_lost(row);
    let mut next = None;
    for (context, row) in charged.iter_mut().zip(rows).rev() {
        if takes(row) {
            next = Some(row.context);
        } else if row.in_operation {
            *context = next.unwrap_or(*context);
        }
    }
    if let Some(last) = rows.iter().rposition(takes) {
        for (context, row) in charged.iter_mut().zip(rows).skip(last + 1) {
            if row.in_operation {
                *context = rows[last].context;
            }
        }
    }
    charged.push(charged.last().copied().unwrap_or(ContextId(0)));
    charged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_in_operations_pass_it_on() {
        let computing = |context| SampleRow { context, ..SampleRow::default() };
        let within = |context| SampleRow { in_operation: true, ..computing(context) };
        let of = |rows: &[SampleRow]| charged(rows, |row| row.context == ContextId(99));
        assert_eq!(
            of(&[
                within(ContextId(9)),
                computing(ContextId(1)),
                within(ContextId(9)),
                within(ContextId(8)),
                computing(ContextId(2))
            ]),
            [ContextId(1), ContextId(1), ContextId(2), ContextId(2), ContextId(2), ContextId(2)]
        );
        assert_eq!(
            of(&[computing(ContextId(1)), within(ContextId(9)), within(ContextId(8))]),
            [ContextId(1), ContextId(1), ContextId(1), ContextId(1)]
        );
        assert_eq!(
            of(&[
                within(ContextId(9)),
                computing(ContextId(99)),
                computing(ContextId(1)),
                computing(ContextId(99))
            ]),
            [ContextId(1), ContextId(99), ContextId(1), ContextId(99), ContextId(99)]
        );
        assert_eq!(of(&[within(ContextId(9))]), [ContextId(9), ContextId(9)]);
        assert_eq!(of(&[]), [ContextId(0)]);
    }
}
