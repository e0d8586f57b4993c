//! Many places at once: of 200 that did not change, ten look changed at 5 % each.
//!
//! - [`benjamini_hochberg`] for lists: of the places that are called changed, no more than the given part is
//!   expected to be false (Benjamini and Hochberg, J. R. Stat. Soc. B 57, 1995).
//! - [`holm`] for what is called certain: the chance that any one is false is no more than the given one
//!   (Holm, Scand. J. Stat. 6, 1979).
//!
//! Both hold where places vary together, as callers and what they call do. Which places are tested must not
//! depend on how much they differ: small ones are left out by their amounts.

/// Which of these two-sided probabilities remain significant if the *expected part* of false ones among them
/// is to be at most `level`.
pub fn benjamini_hochberg(probabilities: &[f64], level: f64) -> Vec<bool> {
    let order = ascending(probabilities);
    let all = probabilities.len() as f64;
    let passes = |(rank, &at): (usize, &usize)| probabilities[at] <= level * (rank + 1) as f64 / all;
    let last = order.iter().enumerate().filter(|&pair| passes(pair)).map(|(rank, _)| rank).next_back();
    kept(&order, last.map_or(0, |rank| rank + 1))
}

/// Which remain significant if the chance of *any* false one is to be at most `level`.
pub fn holm(probabilities: &[f64], level: f64) -> Vec<bool> {
    let order = ascending(probabilities);
    let all = probabilities.len();
    let fails = |(rank, &at): (usize, &usize)| probabilities[at] > level / (all - rank) as f64;
    let first = order.iter().enumerate().find(|&pair| fails(pair)).map_or(all, |(rank, _)| rank);
    kept(&order, first)
}

fn ascending(probabilities: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&one, &other| probabilities[one].total_cmp(&probabilities[other]));
    order
}

fn kept(order: &[usize], count: usize) -> Vec<bool> {
    let mut kept = vec![false; order.len()];
    order[..count].iter().for_each(|&at| kept[at] = true);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Benjamini and Hochberg 1995, section 4.1: 15 probabilities, of which their method rejects four and
    /// Bonferroni's (and Holm's) three.
    #[test]
    fn the_published_example() {
        let probabilities = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.000,
        ];
        let count = |kept: Vec<bool>| kept.iter().filter(|&&kept| kept).count();
        assert_eq!(count(benjamini_hochberg(&probabilities, 0.05)), 4);
        assert_eq!(count(holm(&probabilities, 0.05)), 3);
    }

    #[test]
    fn order_does_not_matter_and_none_is_fine() {
        assert_eq!(benjamini_hochberg(&[0.9, 0.001, 0.02], 0.05), [false, true, true]);
        assert_eq!(holm(&[0.9, 0.001, 0.03], 0.05), [false, true, false]);
        assert_eq!(holm(&[], 0.05), [] as [bool; 0]);
        assert_eq!(benjamini_hochberg(&[], 0.05), [] as [bool; 0]);
    }
}
