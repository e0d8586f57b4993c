//! Folded stacks and the flame graph.

use proust_export::Format;
use proust_profile::Metric;

use crate::{cpu_ns, example, exported, exported_by};

/// Paths and amounts of folded stacks, as their readers split them: the amount is behind the last blank.
fn lines(text: &[u8]) -> Vec<(Vec<String>, u64)> {
    let text = std::str::from_utf8(text).unwrap();
    let split = |line: &str| {
        let (path, amount) = line.rsplit_once(' ').unwrap();
        (path.split(';').map(str::to_owned).collect(), amount.parse().unwrap())
    };
    text.lines().map(split).collect()
}

#[test]
fn amounts_sum_to_the_run_and_names_stay_whole() {
    let profile = example::profile();
    let folded = lines(&exported(&profile, Format::Folded));
    assert_eq!(folded.iter().map(|(_, amount)| amount).sum::<u64>(), cpu_ns(&profile));
    let expected = [
        (vec!["so,lve", "[no call path]"], 777),
        (vec!["so,lve", "main", "<[u8, 4] as Sum>::sum"], 15_000_003),
        (vec!["so,lve", "main", "<[u8, 4] as Sum>::sum", "a\"b\\c d e"], 9_999_998),
        (vec!["so,lve", "main", "step[3]"], 5),
        (vec!["so,lve", "main", "step[3]", "größe λ\u{202e}<&>"], 20_000_000),
    ];
    let found: Vec<(Vec<&str>, u64)> =
        folded.iter().map(|(path, n)| (path.iter().map(String::as_str).collect(), *n)).collect();
    assert_eq!(found, expected);
}

#[test]
fn samples_sum_to_the_samples() {
    let profile = example::profile();
    let folded = lines(&exported_by(&profile, Format::Folded, Metric::Samples));
    let taken = profile.samples.iter().filter(|row| !row.tail).count() as u64;
    assert_eq!(folded.iter().map(|(_, amount)| amount).sum::<u64>(), taken);
}

#[test]
fn the_picture_is_well_formed_and_has_each_frame() {
    let profile = example::profile();
    let picture = String::from_utf8(exported(&profile, Format::Flamegraph)).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    // Tags are closed in the order in which they were opened, and nothing else has angle brackets.
    let mut open = Vec::new();
    for piece in picture.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("an open tag: {piece}"));
        assert!(!text.contains('>'), "{text}");
        match (tag.strip_prefix('/'), tag.ends_with('/')) {
            (Some(closed), _) => assert_eq!(open.pop(), Some(closed)),
            (None, true) => {}
            (None, false) => open.push(tag.split(' ').next().unwrap()),
        }
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot"].contains(&name), "{entity}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for title in
        ["main: 0.045 s, 100.0 %", "&lt;[u8; 4] as Sum&gt;::sum: 0.025 s, 55.6 %", "step[3]: 0.020 s"]
    {
        assert!(picture.contains(title), "{title}\n{picture}");
    }
    assert!(picture.contains("cpu_s: 0.045 s in all"), "{picture}");
}
