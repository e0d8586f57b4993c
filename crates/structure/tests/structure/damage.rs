use std::env;
use std::fs;
use std::panic;
use std::sync::{Once, OnceLock};

use proptest::prelude::*;
use proust_structure::{ModuleRequest, Structurer, demangle, without_clone_suffix};

use crate::build::{Program, addresses_of, build, symbols};
use crate::c_programs::CHAIN;

struct Intact {
    _program: Program,
    bytes: Vec<u8>,
    addresses: Vec<u64>,
}

fn intact() -> Option<&'static Intact> {
    static INTACT: OnceLock<Option<Intact>> = OnceLock::new();
    INTACT
        .get_or_init(|| {
            let program = build("cc", &[("chain.c", CHAIN)], &["-g", "-O2"])?;
            let symbols = symbols(&program.binary);
            let mut addresses = [addresses_of(symbols["work"], 3), addresses_of(symbols["main"], 3)].concat();
            addresses.extend([
                0,
                1,
                0x1000,
                0x1010,
                0x1020,
                0x1030,
                symbols["_start"].0,
                u64::MAX,
                u64::MAX - 1,
            ]);
            let bytes = fs::read(&program.binary).expect("a binary");
            Some(Intact { _program: program, bytes, addresses })
        })
        .as_ref()
}

/// In builds with overflow checks the readers of debug information panic on damage; that is caught, and need
/// not fill the screen.
fn silence_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", |location| location.file());
            if !file.contains("/addr2line-") && !file.contains("/gimli-") {
                loud(panic);
            }
        }));
    });
}

fn survives(bytes: &[u8], addresses: &[u64]) {
    silence_caught_panics();
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("damaged");
    fs::write(&path, bytes).expect("a file");
    let structure = Structurer::new(None).resolve(&ModuleRequest::unverified(path), addresses);
    assert!(addresses.iter().all(|address| !structure.addresses[address].frames.is_empty()));
}

/// Few cases in every run; `PROPTEST_CASES` asks for more.
fn effort() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 64 };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(effort())]

    #[test]
    fn random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..2000), elf in any::<bool>()) {
        let magic: &[u8] = if elf { b"\x7fELF\x02\x01\x01" } else { b"" };
        survives(&[magic, &bytes].concat(), &[0, 0x1000, u64::MAX]);
    }

    #[test]
    fn flipped_bits_are_survived(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..40)
    ) {
        let Some(intact) = intact() else { return Ok(()) };
        let mut bytes = intact.bytes.clone();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        survives(&bytes, &intact.addresses);
    }

    /// Headers and tables are a small part of a file, so that scattered damage rarely meets them.
    #[test]
    fn damaged_tables_are_survived(
        section in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        use object::{Object, ObjectSection};
        let Some(intact) = intact() else { return Ok(()) };
        let file = object::File::parse(&*intact.bytes).expect("an object file");
        let mut ranges: Vec<_> = file.sections().filter_map(|s| s.file_range()).filter(|r| r.1 > 0).collect();
        ranges.extend([(0, 64), (64, 600), (intact.bytes.len() as u64 - 2000, 2000)]);
        let (start, length) = ranges[section.index(ranges.len())];
        let mut bytes = intact.bytes.clone();
        for (at, value) in changes {
            bytes[start as usize + at.index(length as usize)] = value;
        }
        survives(&bytes, &intact.addresses);
    }

    #[test]
    fn cut_files_are_survived(length in any::<prop::sample::Index>()) {
        let Some(intact) = intact() else { return Ok(()) };
        survives(&intact.bytes[..length.index(intact.bytes.len())], &intact.addresses);
    }

    #[test]
    fn any_text_can_be_demangled(text in "(_Z|_ZN|_R|__)?[A-Za-z0-9_.$]{0,40}", any_text in ".{0,40}") {
        for name in [text, any_text] {
            let _ = demangle(&name);
            prop_assert!(name.starts_with(without_clone_suffix(&name)));
        }
    }
}
