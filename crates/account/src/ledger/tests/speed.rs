//! How fast the sweep is. Not a test: run with `cargo test --release ledger::tests::speed -- --ignored
//! --nocapture`.

use super::super::*;
use proust_profile::{ContextId, LocationId, ProcessId};
use std::collections::BTreeMap;
use std::time::Instant;

/// A thread that is sampled, waits for a lock now and then, and makes its spans up as they are read.
struct Made {
    seed: u64,
    spans: u64,
}

impl Spans for Made {
    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let (mut random, mut at) = (self.seed, 0);
        (0..self.spans).map(move |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let start = at;
            at += 4_000_000 + (random >> 44);
            // Of 1000 contexts, the busiest tenth has nearly half of the spans.
            let uniform = (random >> 32) as u32 as f64 / f64::from(u32::MAX);
            let context = (uniform.powi(3) * 999.0) as u32;
            match (random >> 60) & 7 {
                0 => Span::new(start, at, State::Waiting(Wait::Lock), ContextId(context)),
                1 => Span::new(start, at, State::Passive(PassiveReason::Condition), ContextId(context)),
                _ => Span::new(start, at, State::Working(Work::Compute), ContextId(context))
                    .with(PartKind::Measurement, 2_000)
                    .with(PartKind::Delayed, 100_000),
            }
        })
    }

    fn overlapping(&self, range_ns: std::ops::Range<u64>) -> impl Iterator<Item = Span> + '_ {
        self.spans().filter(move |span| span.end_ns > range_ns.start && span.start_ns < range_ns.end)
    }
}

#[test]
#[ignore = "a benchmark"]
fn ten_million_spans() {
    for locations in [1, 8, 64, 1024] {
        let spans = 10_000_000 / u64::from(locations);
        let mut process = Process::new(ProcessId(0), 0, spans * 5_000_000);
        process.processor_set = Some(0);
        let timeline = |id: u32| Timeline {
            location: LocationId(id),
            process: process.id,
            service: false,
            spans: Made { seed: u64::from(id), spans },
        };
        let run = Run {
            timelines: (0..locations).map(timeline).collect(),
            processes: vec![process.clone()],
            processor_sets: vec![ProcessorSet::first(locations / 2)],
            bound: BTreeMap::new(),
        };
        let start = Instant::now();
        let made =
            run.timelines.iter().flat_map(|timeline| timeline.spans.spans()).map(|span| span.end_ns).max();
        let reading = start.elapsed();
        let start = Instant::now();
        let processors = Processors::measured(&run, &Windows::all()).unwrap();
        let counting = start.elapsed();
        let start = Instant::now();
        let ledger = Ledger::of(&run, &processors, &Windows::all()).unwrap();
        println!(
            "{locations} locations, 10⁷ spans: making them {reading:.2?}, processors {counting:.2?}, \
             ledger {:.2?} ({} processors, efficiency {:.3}, {:?})",
            start.elapsed(),
            processors.total(),
            ledger.efficiency(IoAs::Productive).unwrap(),
            made,
        );
    }
}
