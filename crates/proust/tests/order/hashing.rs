//! What is computed does not depend on chance: the standard library's maps are gone through in an order that
//! differs from run to run, and sums of doubles with it.

use super::arrows::sources;

/// The parts that compute and show amounts.
const PARTS: [&str; 6] = ["ingest", "account", "query", "findings", "compare", "report"];

/// Names of the maps whose order is random.
fn random_maps(code: &str) -> Vec<&'static str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_used = |name: &&str| code.match_indices(*name).any(|(at, _)| !code[..at].ends_with(is_word));
    ["HashMap", "HashSet"].into_iter().filter(is_used).collect()
}

#[test]
fn amounts_are_summed_up_in_an_order_that_stays_the_same() {
    let mut found = Vec::new();
    for part in PARTS {
        for (file, code) in sources(part) {
            found.extend(random_maps(&code).into_iter().map(|name| format!("{file}: {name}")));
        }
    }
    assert!(found.is_empty(), "use the maps of rustc_hash:\n{}", found.join("\n"));
}

#[test]
fn random_maps_are_recognised() {
    assert_eq!(random_maps("let a: HashMap<u32, f64> = std::collections::HashMap::new();"), ["HashMap"]);
    assert!(random_maps("use rustc_hash::{FxHashMap, FxHashSet};").is_empty());
}
