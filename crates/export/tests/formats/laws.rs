//! Whatever functions and threads are called, each format can be read and nothing is lost.

use proptest::prelude::*;
use proust_export::Format;

use crate::{cpu_ns, example, exported, json};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_names_are_carried(
        names in proptest::collection::vec("\\PC{0,12}|[\u{0}-\u{40}\u{fffd}-\u{ffff};\"\\\\]{0,6}", 4),
        thread in "\\PC{0,8}|[\n;]{0,4}",
    ) {
        let mut profile = example::profile();
        for (function, name) in profile.functions.iter_mut().zip(names) {
            function.name = name;
        }
        profile.processes.raw[0].name = thread.clone();
        profile.locations.raw[1].name = thread;
        let folded = String::from_utf8(exported(&profile, Format::Folded)).unwrap();
        let amount = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
        let sum: u64 = folded.lines().map(amount).sum();
        prop_assert_eq!(sum, cpu_ns(&profile));
        prop_assert_eq!(crate::speedscope::checked(&json(&profile, Format::Speedscope)), cpu_ns(&profile));
        crate::firefox::checked(&json(&profile, Format::Firefox));
        crate::trace::checked(&json(&profile, Format::ChromeTrace));
        let sums = crate::pprof::checked(&exported(&profile, Format::Pprof));
        prop_assert_eq!(sums[1].2, cpu_ns(&profile));
        let picture = String::from_utf8(exported(&profile, Format::Flamegraph)).unwrap();
        prop_assert!(picture.chars().all(|c| c == '\n' || !c.is_control()));
        prop_assert!(roxmltree::Document::parse(&picture).is_ok(), "{picture}");
    }
}
