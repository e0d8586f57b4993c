//! Which processors a process may use.

/// A set of processors of one host: an affinity mask, and the part of it that a control group allows.
///
/// Sets of processes may overlap. Two processes compete where one's set lies in the other's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ProcessorSet {
    /// Which host, by any number of its own.
    pub host: u32,
    /// Bit n of word w is processor 64 w + n.
    pub mask: Vec<u64>,
    /// Processor time that may be used in any stretch of time, in thousandths of a processor; None = all of
    /// it.
    pub quota_milli: Option<u32>,
}

impl ProcessorSet {
    /// The first so many processors of host 0.
    pub fn first(count: u32) -> ProcessorSet {
        ProcessorSet { mask: first(count), ..ProcessorSet::default() }
    }

    /// Whether processor `number` is in it.
    pub fn has(&self, number: u32) -> bool {
        let word = self.mask.get(number as usize / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    /// How much of processors it is, in thousandths of one.
    pub fn capacity_milli(&self) -> u64 {
        let all = 1000 * count(&self.mask);
        self.quota_milli.filter(|&milli| milli > 0).map_or(all, |milli| all.min(milli.into()))
    }

    /// Whether a location that may use `inner` competes with all that use this one: with its processors,
    /// under the same quota.
    pub fn covers(&self, inner: &ProcessorSet) -> bool {
        let outside = |(n, word): (usize, &u64)| word & !self.mask.get(n).copied().unwrap_or(0) != 0;
        self.host == inner.host
            && !inner.mask.iter().enumerate().any(outside)
            && (self.quota_milli.is_none() || self.quota_milli == inner.quota_milli)
    }
}

/// The mask of the first so many processors.
pub fn first(count: u32) -> Vec<u64> {
    let word = |n: u32| if count >= 64 * (n + 1) { u64::MAX } else { (1 << (count - 64 * n)) - 1 };
    (0..count.div_ceil(64)).map(word).collect()
}

fn count(mask: &[u64]) -> u64 {
    mask.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// How many processors there are for locations that may each use one of these sets: of each host those in any
/// of them, and no more than a quota allows that all of them have. Part of a processor counts as one. None
/// where there is no set.
pub fn available<'s>(sets: impl Iterator<Item = &'s ProcessorSet>) -> Option<u32> {
    // By host: the mask of all, the largest quota, whether all have one.
    let mut hosts = std::collections::BTreeMap::<u32, (Vec<u64>, u32, bool)>::new();
    for set in sets {
        let (mask, quota, limited) = hosts.entry(set.host).or_insert((Vec::new(), 0, true));
        mask.resize(mask.len().max(set.mask.len()), 0);
        mask.iter_mut().zip(&set.mask).for_each(|(all, word)| *all |= word);
        let own = set.quota_milli.filter(|&milli| milli > 0);
        (*quota, *limited) = ((*quota).max(own.unwrap_or(0)), *limited && own.is_some());
    }
    let milli = hosts.values().map(|(mask, quota, limited)| {
        let all = 1000 * count(mask);
        if *limited { all.min(u64::from(*quota)) } else { all }
    });
    let milli = milli.reduce(|a, b| a + b)?;
    Some(u32::try_from(milli.div_ceil(1000)).unwrap_or(u32::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(host: u32, mask: u64, quota_milli: Option<u32>) -> ProcessorSet {
        ProcessorSet { host, mask: vec![mask], quota_milli }
    }

    #[test]
    fn sets_of_a_host_are_united_and_hosts_add_up() {
        let of = |sets: &[ProcessorSet]| available(sets.iter());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[set(0, 0b01, None), set(0, 0b10, None)]), Some(2));
        assert_eq!(of(&[set(0, 0b11, None), set(0, 0b10, None), set(1, 0b1, None)]), Some(3));
        assert_eq!(of(&[set(0, 0b1111, Some(1500))]), Some(2));
        assert_eq!(of(&[set(0, 0b1111, Some(1500)), set(0, 0b1, None)]), Some(4));
        assert_eq!(of(&[set(0, 0, None)]), Some(1));
    }

    #[test]
    fn masks_longer_than_a_word() {
        assert_eq!(first(65), [u64::MAX, 1]);
        assert!(ProcessorSet::first(65).has(64) && !ProcessorSet::first(65).has(65));
        assert!(ProcessorSet::first(65).covers(&ProcessorSet::first(64)));
        assert!(!ProcessorSet::first(64).covers(&ProcessorSet::first(65)));
        assert_eq!(ProcessorSet::first(130).capacity_milli(), 130_000);
    }
}
