use std::fs;

use proust_structure::{ModuleNote, ModuleRequest, Structurer};

use crate::build::{addresses_of, build, build_id, chain, resolve, symbols, tool};
use crate::c_programs::CHAIN;

#[test]
fn one_stripped_function_has_one_name() {
    for flags in [&["-O2", "-g"][..], &["-O2", "-Wl,--no-eh-frame-hdr"]] {
        let Some(program) = build("cc", &[("chain.c", CHAIN)], flags) else { return };
        let work = symbols(&program.binary)["work"];
        if tool("strip", &[program.binary.to_str().expect("UTF-8")]).is_none() {
            return;
        }
        let structure = resolve(&program.binary, &addresses_of(work, 1));
        assert_eq!(structure.functions.len(), 1, "{flags:?}");
        let function = &structure.functions[0];
        assert_eq!(function.name, format!("program+{:#x}", work.0));
        assert_eq!((function.address, function.size_bytes), work);
        assert!(structure.notes.iter().any(|note| matches!(note, ModuleNote::NoDebugInfo { .. })));
    }
}

#[test]
fn a_stripped_program_has_its_main_and_its_start() {
    for flags in [&["-O2"][..], &["-O2", "-no-pie"], &["-O2", "-fcf-protection=full"], &["-O2", "-g"]] {
        let Some(program) = build("cc", &[("chain.c", CHAIN)], flags) else { return };
        let symbols = symbols(&program.binary);
        if tool("strip", &[program.binary.to_str().expect("UTF-8")]).is_none() {
            return;
        }
        let [start, main, work] = ["_start", "main", "work"].map(|name| symbols[name].0);
        let structure =
            resolve(&program.binary, &[start, start + 8, main, main + symbols["main"].1 - 1, work]);
        let name = |address: u64| chain(&structure, address)[0].0.clone();
        if cfg!(target_arch = "x86_64") {
            assert_eq!([name(start), name(start + 8)], ["_start"; 2], "{flags:?}");
            assert_eq!([name(main), name(main + symbols["main"].1 - 1)], ["main"; 2], "{flags:?}");
        }
        assert_eq!(name(work), format!("program+{work:#x}"));
    }
}

#[test]
fn debug_files_are_found_beside_the_module_and_by_build_id() {
    for identified in [true, false] {
        let id_flag = if identified { "-Wl,--build-id=sha1" } else { "-Wl,--build-id=none" };
        let Some(program) = build("cc", &[("chain.c", CHAIN)], &["-g", "-O2", id_flag]) else { return };
        let addresses = addresses_of(symbols(&program.binary)["work"], 1);
        let whole = resolve(&program.binary, &addresses);
        let binary = program.binary.to_str().expect("UTF-8");
        let debug = format!("{binary}.debug");
        if tool("objcopy", &["--only-keep-debug", binary, &debug]).is_none() {
            return;
        }
        tool("strip", &[binary]);
        tool("objcopy", &[&format!("--add-gnu-debuglink={debug}"), binary]);
        let linked = resolve(&program.binary, &addresses);
        assert_eq!((&linked.functions, &linked.addresses), (&whole.functions, &whole.addresses));

        if let Some(id) = build_id(&program.binary) {
            let hex: String = id.iter().map(|b| format!("{b:02x}")).collect();
            let root = program.folder.path().join("debug-root");
            let place = root.join(".build-id").join(&hex[..2]);
            fs::create_dir_all(&place).expect("a folder");
            fs::rename(&debug, place.join(format!("{}.debug", &hex[2..]))).expect("a move");
            let structurer = Structurer::new(None).with_debug_roots(vec![root]);
            let found = structurer.resolve(&ModuleRequest::unverified(&program.binary), &addresses);
            assert_eq!((&found.functions, &found.addresses), (&whole.functions, &whole.addresses));
            fs::copy("/proc/self/exe", &debug).expect("a copy");
        } else {
            fs::write(&debug, "not what was linked").expect("a file");
        }

        let other = resolve(&program.binary, &addresses);
        assert!(
            other.notes.iter().any(|n| matches!(n, ModuleNote::DebugFileIgnored { .. })),
            "{:?}",
            other.notes
        );
        assert!(chain(&other, addresses[0])[0].0.starts_with("program+0x"));
    }
}

#[test]
fn compressed_debug_information_is_read() {
    let Some(program) = build("cc", &[("chain.c", CHAIN)], &["-g", "-O2", "-gz=zlib"]) else { return };
    let structure = resolve(&program.binary, &addresses_of(symbols(&program.binary)["work"], 1));
    assert!(structure.addresses.values().any(|address| address.frames.len() == 4));
}
