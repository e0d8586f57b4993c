//! Stories that the configuration of the test runner names, and that are there: under another name a story
//! would run at another time than is meant.

use std::fs;

use crate::files::root;

/// The alternatives of `test(/^(…)` behind `begin`.
fn named<'c>(configuration: &'c str, begin: &str) -> Vec<&'c str> {
    let (_, behind) = configuration.split_once(begin).expect("the setting");
    let (_, behind) = behind.split_once("test(/^(").expect("an expression");
    let (names, _) = behind.split_once(')').expect("its end");
    names.split('|').map(|name| name.trim_start_matches("\\\n")).collect()
}

#[test]
fn named_stories_are_there() {
    let configuration = fs::read_to_string(root().join(".config/nextest.toml")).unwrap();
    let folder = root().join("crates/proust/tests/story");
    let text = |module: &str| fs::read_to_string(folder.join(module).with_extension("rs")).ok();
    let at_night = named(&configuration, "default-filter");
    assert!(at_night.len() > 3, "{at_night:?}");
    for story in at_night {
        let (module, name) = story.split_once("::").expect("a module and a name");
        let is_there = text(module).is_some_and(|text| text.contains(&format!("#[test]\nfn {name}()")));
        assert!(is_there, "there is no story {story}");
    }
    let side_by_side = named(&configuration, "overrides");
    assert!(side_by_side.len() > 30, "{side_by_side:?}");
    let missing: Vec<_> = side_by_side.iter().filter(|module| text(module).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
