//! Suggestions for a word that was not understood.

/// Those of `known` that look most like `word`, best first, at most `limit`.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let lower = word.to_lowercase();
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let distance =
                if !lower.is_empty() && other.contains(&lower) { 1 } else { edit_distance(&lower, &other) };
            // A third of the letters may be wrong, and two at least, but not all of them.
            let letters = lower.chars().count();
            (distance <= 2.max(letters / 3) && distance < letters.max(1)).then_some((distance, candidate))
        })
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(limit).map(|(_, candidate)| candidate).collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut current = vec![i];
        for j in 1..=b.len() {
            let substitution = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitution.min(previous[j] + 1).min(current[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first() {
        assert_eq!(nearest("thred", ["rank", "thread", "time"], 3), ["thread"]);
        assert_eq!(nearest("sumary", ["summary", "samples"], 3), ["summary"]);
        assert!(nearest("quite-different", ["rank", "thread"], 3).is_empty());
        assert_eq!(edit_distance("ab", "ba"), 1);
    }
}
