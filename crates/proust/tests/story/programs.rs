//! The programs that know the truth about themselves, built when a story first needs them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where their sources are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").canonicalize().expect("the folder programs")
}

/// The program of that name, up to date. `None`, said as `SKIP:`, where a tool that builds it is missing.
pub fn built(name: &str) -> Option<PathBuf> {
    let folder = folder();
    let build = folder.join("build");
    let file = build.join(name);
    std::fs::create_dir_all(&build).expect("a folder for the programs");
    // Stories run side by side in several processes: only one of them may build at a time.
    let command = format!("flock '{}' make build/{name}", build.join(".lock").display());
    if !has("make") || !has("flock") {
        println!("SKIP: {name} is not built: make or flock is not installed");
        return None;
    }
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(&folder)
        .output()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command} failed:\n{said}{}", String::from_utf8_lossy(&output.stderr));
    if !file.exists() {
        println!("SKIP: {}", said.lines().last().unwrap_or(name));
        return None;
    }
    Some(file)
}

/// Whether a command is in a folder of PATH.
pub fn has(tool: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join(tool).is_file())
}
