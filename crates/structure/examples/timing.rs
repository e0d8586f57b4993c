//! How long the structure of a module takes: `timing MODULE [ADDRESSES]` samples its functions evenly and
//! resolves them without a cache, with an empty one and with a full one.

use std::time::Instant;
use std::{env, error::Error, fs};

use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use proust_structure::{ModuleRequest, Structurer};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: timing MODULE [ADDRESSES]")?;
    let count: usize = env::args().nth(2).map_or(Ok(400), |count| count.parse())?;
    let bytes = fs::read(&path)?;
    let file = object::File::parse(&*bytes)?;
    let build_id = file.build_id()?.map(<[u8]>::to_vec);
    let mut addresses: Vec<u64> = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(|symbol| {
            symbol.is_definition() && symbol.kind() == object::SymbolKind::Text && symbol.size() > 0
        })
        .map(|symbol| symbol.address() + symbol.size() / 2)
        .collect();
    if addresses.is_empty() {
        let text = file.sections().find(|section| section.kind() == SectionKind::Text).ok_or("no code")?;
        addresses = (text.address()..text.address() + text.size()).step_by(64).collect();
    }
    addresses.sort_unstable();
    let step = addresses.len().div_ceil(count).max(1);
    let addresses: Vec<u64> = addresses.into_iter().step_by(step).collect();

    let folder = tempfile::TempDir::new()?;
    let request = ModuleRequest { path: path.into(), build_id, code_id: None };
    for (what, cache) in
        [("no cache", None), ("empty cache", Some(folder.path())), ("full cache", Some(folder.path()))]
    {
        let start = Instant::now();
        let structure = Structurer::new(cache.map(Into::into)).resolve(&request, &addresses);
        let elapsed = start.elapsed();
        let frames: usize = structure.addresses.values().map(|address| address.frames.len()).sum();
        println!(
            "{what:12} {:8.1} ms  {} addresses, {} functions, {frames} frames, {} bytes",
            elapsed.as_secs_f64() * 1e3,
            structure.addresses.len(),
            structure.functions.len(),
            bytes.len(),
        );
        if what == "full cache" {
            structure.notes.iter().for_each(|note| println!("note: {note:?}"));
        }
    }
    Ok(())
}
