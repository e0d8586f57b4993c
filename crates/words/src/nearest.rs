//! Suggestions for a word that was not understood.

use strsim::osa_distance;

use crate::arguments;

/// Those of `known` that look most like `word`, best first, at most `limit`.
///
/// Of a name with a path, such as `text::parse<f64>`, the last part may be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let lower = word.to_lowercase();
    let mut scored: Vec<(usize, &str)> =
        known.into_iter().filter_map(|candidate| Some((distance(&lower, candidate)?, candidate))).collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(limit).map(|(_, candidate)| candidate).collect()
}

/// How far a word in lower case is from a candidate; None if nobody would take one for the other.
fn distance(word: &str, candidate: &str) -> Option<usize> {
    let candidate = candidate.to_lowercase();
    let letters = word.chars().count();
    if letters > 1 && candidate.contains(word) {
        return Some(1);
    }
    // A third of the letters may be wrong, two at least and in short words one, but not all.
    let allowed = if letters < 4 { 1 } else { 2.max(letters / 3) };
    let of_whole = osa_distance(word, &candidate);
    let bare = arguments::without(&candidate);
    let distance = of_whole.min(osa_distance(word, last_part(&bare)));
    (distance <= allowed && distance < letters.max(1)).then_some(distance)
}

/// The last part of a name with a path, without its parameters.
fn last_part(name: &str) -> &str {
    let last = arguments::last_part(name);
    match last.split_once('(') {
        Some((name, _)) if !name.is_empty() => name,
        _ => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first() {
        assert_eq!(nearest("thred", ["rank", "thread", "time"], 3), ["thread"]);
        assert_eq!(nearest("sumary", ["summary", "samples"], 3), ["summary"]);
        assert!(nearest("quite-different", ["rank", "thread"], 3).is_empty());
    }

    #[test]
    fn the_last_part_of_a_path_may_be_meant() {
        let known = ["demo::workload::merge_sort", "demo::workload::parse<f64>", "main"];
        assert_eq!(nearest("mergesort", known, 3), ["demo::workload::merge_sort"]);
        assert_eq!(nearest("sovle", ["grid::Grid<a::B>::solve", "x"], 3), ["grid::Grid<a::B>::solve"]);
        assert_eq!(nearest("prase", known, 3), ["demo::workload::parse<f64>"]);
    }

    #[test]
    fn short_words_are_not_like_everything() {
        assert!(nearest("foo", ["io", "flat"], 3).is_empty());
        assert_eq!(nearest("oi", ["io", "flat"], 3), ["io"]);
        assert_eq!(nearest("cpux", ["cpu_s"], 3), ["cpu_s"]);
    }

    /// Two letters changed places: that is one error, and nearer than two wrong letters.
    #[test]
    fn a_swap_is_one_error() {
        assert_eq!(nearest("raknc", ["ranks", "rankc"], 2), ["rankc", "ranks"]);
    }
}
