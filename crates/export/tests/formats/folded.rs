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
    let document = roxmltree::Document::parse(&picture).expect("XML");
    assert_eq!(document.root_element().tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("title"))
        .filter_map(|node| node.text())
        .collect();
    for title in ["main: 0.045 s, 100.0 %", "<[u8; 4] as Sum>::sum: 0.025 s, 55.6 %", "step[3]: 0.020 s"] {
        assert!(titles.iter().any(|found| found.starts_with(title)), "{title}\n{titles:?}");
    }
    assert!(picture.contains("cpu_s: 0.045 s in all"), "{picture}");
}
