//! Any bytes as a perf map, and as the records of a jitdump.

#![no_main]

use std::collections::BTreeSet;

use proust_structure::MadeCode;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let others = [0xfff, 0x1000, 0x7fff_ffff, u64::MAX - 1, u64::MAX];
    let addresses: BTreeSet<u64> = (0..64).chain(others).collect();
    let of_map = MadeCode::read(bytes, b"", &addresses);
    for &address in &addresses {
        assert_eq!(of_map.at(address, 0), of_map.at(address, u64::MAX));
    }
    let mut dump = Vec::new();
    for word in [0x4a69_5444_u32, 1, 40, 62, 0, 1] {
        dump.extend(word.to_ne_bytes());
    }
    dump.extend([0; 16]);
    dump.extend(bytes);
    for dump in [&dump, bytes] {
        let made = MadeCode::read(b"", dump, &addresses);
        assert!(made.changes().is_sorted());
        for &address in &addresses {
            // Between two changes a name stays.
            for pair in made.changes().windows(2) {
                assert_eq!(made.at(address, pair[0]), made.at(address, pair[1] - 1));
            }
        }
    }
});
