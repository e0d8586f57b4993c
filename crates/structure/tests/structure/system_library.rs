use std::fs;
use std::path::PathBuf;

use proust_structure::{ModuleRequest, Structurer};

use crate::build::chain;

fn libc() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path =
        maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|p| p.contains("/libc.so"));
    if path.is_none() {
        eprintln!("SKIP: no libc.so in this process");
    }
    path.map(PathBuf::from)
}

#[test]
fn exported_functions_of_libc_have_their_public_names() {
    let Some(path) = libc() else { return };
    use object::{Object, ObjectSymbol};
    let bytes = fs::read(&path).expect("libc");
    let file = object::File::parse(&*bytes).expect("an object file");
    let address_of = |name: &str| {
        let symbol = file.dynamic_symbols().find(|s| s.is_definition() && s.name() == Ok(name));
        symbol.map(|s| s.address()).expect(name)
    };
    let wanted = ["malloc", "qsort", "printf", "write", "getenv"];
    let addresses = wanted.map(|name| address_of(name) + 4);
    let structure = Structurer::new(None).resolve(&ModuleRequest::unverified(&path), &addresses);
    for (name, address) in wanted.iter().zip(addresses) {
        // With installed debug symbols too, though the source calls them `__libc_malloc` and the like.
        assert_eq!(chain(&structure, address)[0].0, *name);
    }
}

#[test]
fn the_vdso_has_symbols_when_it_is_the_measured_one() {
    let request = |build_id| ModuleRequest { path: "[vdso]".into(), build_id, code_id: None };
    let structure = Structurer::new(None).resolve(&request(Some(vec![1; 20])), &[0x800]);
    assert_eq!(structure.functions[0].name, "[vdso]+0x800");
}
