//! Programs for the tests: built at test time, read back with binutils, which are an independent truth.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proust_structure::{ModuleRequest, ModuleStructure, Structurer};
use tempfile::TempDir;

/// Function, file name without folders, line.
pub(crate) type Link = (String, String, u32);

pub(crate) struct Program {
    pub(crate) folder: TempDir,
    pub(crate) binary: PathBuf,
}

/// Compiles `sources` (name, text) with `compiler`; `None`, with a word about it, where it is not installed.
pub(crate) fn build(compiler: &str, sources: &[(&str, &str)], flags: &[&str]) -> Option<Program> {
    let folder = TempDir::new().expect("a temporary folder");
    let binary = folder.path().join("program");
    for (name, text) in sources {
        fs::write(folder.path().join(name), text).expect("the source can be written");
    }
    let compiled = Command::new(compiler)
        .current_dir(folder.path())
        .args(flags)
        .arg("-o")
        .arg(&binary)
        .args(sources.iter().map(|(name, _)| name))
        .output();
    let Ok(compiled) = compiled else {
        let language = match compiler {
            "c++" => "C++",
            "gfortran" => "Fortran",
            _ => "C",
        };
        eprintln!("SKIP: no {language} compiler");
        return None;
    };
    assert!(compiled.status.success(), "{compiler}: {}", String::from_utf8_lossy(&compiled.stderr));
    Some(Program { folder, binary })
}

/// Standard output of a tool of binutils, or `None` where it is not installed.
pub(crate) fn tool(name: &str, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(name).args(arguments).output() else {
        eprintln!("SKIP: no {name}");
        return None;
    };
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Addresses and sizes of the functions in the symbol table, by linker name.
pub(crate) fn symbols(binary: &Path) -> BTreeMap<String, (u64, u64)> {
    use object::{Object, ObjectSymbol};
    let bytes = fs::read(binary).expect("the binary can be read");
    let file = object::File::parse(&*bytes).expect("an object file");
    file.symbols()
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), (symbol.address(), symbol.size()))))
        .collect()
}

/// One address every `step` bytes of a function.
pub(crate) fn addresses_of(symbol: (u64, u64), step: usize) -> Vec<u64> {
    (symbol.0..symbol.0 + symbol.1).step_by(step).collect()
}

pub(crate) fn build_id(binary: &Path) -> Option<Vec<u8>> {
    use object::Object;
    let bytes = fs::read(binary).expect("the binary can be read");
    object::File::parse(&*bytes).expect("an object file").build_id().expect("notes").map(<[u8]>::to_vec)
}

pub(crate) fn resolve(binary: &Path, addresses: &[u64]) -> ModuleStructure {
    Structurer::new(None).resolve(&ModuleRequest::unverified(binary), addresses)
}

/// `name`, file name without folders, and line of each frame of one address, outermost first.
pub(crate) fn chain(structure: &ModuleStructure, address: u64) -> Vec<Link> {
    structure.addresses[&address]
        .frames
        .iter()
        .map(|frame| {
            let file = frame.file.as_deref().unwrap_or("?");
            let file = file.rsplit('/').next().unwrap_or(file);
            (structure.function(frame).name.clone(), file.to_owned(), frame.line.unwrap_or(0))
        })
        .collect()
}

/// What binutils' addr2line says about `address`, in the form of [`chain`]; functions by linker name.
pub(crate) fn truth(binary: &Path, addresses: &[u64]) -> Option<BTreeMap<u64, Vec<Link>>> {
    let binary = binary.to_str().expect("a path in UTF-8");
    let hex: Vec<String> = addresses.iter().map(|address| format!("{address:#x}")).collect();
    let arguments: Vec<&str> =
        ["-a", "-i", "-f", "-e", binary].into_iter().chain(hex.iter().map(String::as_str)).collect();
    let text = tool("addr2line", &arguments)?;
    let mut truth: BTreeMap<u64, Vec<Link>> = BTreeMap::new();
    let mut current = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(address) = line.strip_prefix("0x").filter(|a| a.len() == 16) {
            current = u64::from_str_radix(address, 16).expect("an address");
            truth.insert(current, Vec::new());
            continue;
        }
        let place = lines.next().expect("a place after each function");
        let place = place.split(" (discriminator").next().unwrap_or(place);
        let (file, line_number) = place.rsplit_once(':').expect("file:line");
        let file = file.rsplit('/').next().unwrap_or(file);
        let frame = (line.to_owned(), file.to_owned(), line_number.parse().unwrap_or(0));
        truth.get_mut(&current).expect("an address comes first").insert(0, frame);
    }
    Some(truth)
}
