//! Suggestions for a word that was not understood.

use strsim::osa_distance;

/// Those of `known` that look most like `word`, best first, at most `limit`.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let lower = word.to_lowercase();
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let distance =
                if !lower.is_empty() && other.contains(&lower) { 1 } else { osa_distance(&lower, &other) };
            // A third of the letters may be wrong, and two at least, but not all of them.
            let letters = lower.chars().count();
            (distance <= 2.max(letters / 3) && distance < letters.max(1)).then_some((distance, candidate))
        })
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(limit).map(|(_, candidate)| candidate).collect()
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

    /// Two letters changed places: that is one error, and nearer than two wrong letters.
    #[test]
    fn a_swap_is_one_error() {
        assert_eq!(nearest("raknc", ["ranks", "rankc"], 2), ["rankc", "ranks"]);
    }
}
