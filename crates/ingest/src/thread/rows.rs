//! The rows of a thread until they have contexts: as they are while there is memory for them, and encoded
//! otherwise.

use proust_profile::{SampleRow, Samples, SamplesBuilder, Spool, Taken};

/// The rows of a finished thread, in order of time.
#[derive(Debug)]
pub(crate) enum RawSamples {
    /// As they are; with the memory that they take.
    Rows(Vec<SampleRow>, Option<Taken>),
    /// A fifth as long, in a spool.
    Encoded(Samples),
}

impl Default for RawSamples {
    fn default() -> RawSamples {
        RawSamples::Rows(Vec::new(), None)
    }
}

impl RawSamples {
    /// These rows, which are in order of time.
    pub(crate) fn new(mut rows: Vec<SampleRow>, spool: &Spool) -> RawSamples {
        let bytes = size_of_val(rows.as_slice()) as u64;
        if let Some(taken) = spool.budget().take(bytes) {
            rows.shrink_to_fit();
            return RawSamples::Rows(rows, Some(taken));
        }
        let mut encoded = SamplesBuilder::new(spool);
        match rows.iter().try_for_each(|row| encoded.push(row)) {
            Ok(()) => RawSamples::Encoded(encoded.finish()),
            Err(_) => RawSamples::Rows(rows, None),
        }
    }

    /// Hands each over.
    pub(crate) fn each(self, mut take: impl FnMut(SampleRow)) {
        match self {
            RawSamples::Rows(rows, _taken) => rows.into_iter().for_each(take),
            RawSamples::Encoded(samples) => samples.iter().for_each(&mut take),
        }
    }

    /// All of them.
    pub(crate) fn to_vec(&self) -> Vec<SampleRow> {
        match self {
            RawSamples::Rows(rows, _) => rows.clone(),
            RawSamples::Encoded(samples) => samples.iter().collect(),
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            RawSamples::Rows(rows, _) => rows.is_empty(),
            RawSamples::Encoded(samples) => samples.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::{Budget, ContextId};

    use super::*;

    #[test]
    fn without_memory_they_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let rows: Vec<SampleRow> = (0..5000)
            .map(|number: u32| SampleRow {
                context: ContextId(if number.is_multiple_of(7) { super::super::LOST } else { number % 50 }),
                time_ns: u64::from(number / 3),
                cpu_ns: u64::from(number) * 977 % 1_000_000,
                partial: number.is_multiple_of(5),
                ..SampleRow::default()
            })
            .collect();
        let all_bytes = size_of_val(rows.as_slice()) as u64;
        for (budget_bytes, is_encoded) in [(all_bytes, false), (all_bytes - 1, true), (0, true)] {
            let spool = Spool::new(folder.path(), Budget::new(budget_bytes));
            let kept = RawSamples::new(rows.clone(), &spool);
            assert_eq!(matches!(kept, RawSamples::Encoded(_)), is_encoded);
            assert_eq!((kept.to_vec(), kept.is_empty()), (rows.clone(), false));
            let mut found = Vec::new();
            kept.each(|row| found.push(row));
            assert_eq!(found, rows);
            assert_eq!(spool.budget().left_bytes(), budget_bytes);
        }
    }
}
