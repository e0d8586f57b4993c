//! Builds the collector library that travels inside the command.
//!
//! It is a separate build with its own profile (optimised whatever the command's profile is, unwinding
//! panics) and its own target folder, so that it neither waits for the outer build nor disturbs it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let workspace = package.join("../..");
    for part in ["crates/collector", "crates/log", "crates/mpi-abi", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", workspace.join(part).display());
    }
    let target = out.join("collector");
    let mut cargo = Command::new(env::var_os("CARGO").expect("set by cargo"));
    cargo
        .current_dir(&workspace)
        .args(["build", "--quiet", "--package", "proust-collector", "--profile", "collector"])
        .arg("--target-dir")
        .arg(&target);
    // What was set for the outer build (a linter in the compiler's place, coverage, other flags) is not
    // meant for code that runs inside other programs.
    for variable in ["RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"]
    {
        cargo.env_remove(variable);
    }
    let status = cargo.status().expect("cargo can be started");
    assert!(status.success(), "the collector library could not be built");
    let library = target.join("collector/libproust_collector.so");
    std::fs::copy(&library, out.join("libproust_collector.so"))
        .unwrap_or_else(|error| panic!("{} cannot be copied: {error}", library.display()));
}
