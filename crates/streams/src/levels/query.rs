//! Questions to levels: exact sums over any range and any locations.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::directory::{GroupEntry, Place, Tree};
use super::node::{AccountSums, NodeView, nodes};
use super::{Drawn, FAN, Levels, LevelsError};
use crate::bins::{Bins, BinsIn};
use crate::reader::Reading;
use crate::record::{Key, Location, Summed};
use crate::source::ReadAt;
use crate::sums::{Sums, add_block, add_by_scan, count_within};

/// Up to this number of blocks in a range are read without looking at their levels.
const FEW_BLOCKS: usize = 4;

/// Buffers that are kept between reads.
#[derive(Default)]
struct Buffers {
    frames: Vec<Vec<u8>>,
    reading: Reading,
}

/// What covers the locations of a question.
struct Cover<'a> {
    groups: Vec<&'a GroupEntry>,
    /// Those in none of these groups.
    locations: Vec<Location>,
}

impl<R: Summed, S: ReadAt> Levels<'_, R, S> {
    /// The time of these locations within a range, by key: equal to the sum over all their records. On all
    /// threads of the current pool; the answer does not depend on their number.
    pub fn sums(&self, locations: &[Location], range_ns: Range<u64>) -> Result<Sums, LevelsError> {
        let mut locations = locations.to_vec();
        locations.sort_unstable();
        locations.dedup();
        let mut total = Sums::default();
        // Ranges of time of locations that groups do not answer.
        let mut rest: Vec<(Location, Range<u64>)> = Vec::new();
        let cover = self.cover(&locations);
        let mut whole: Vec<(&GroupEntry, Range<u64>)> = Vec::new();
        for group in cover.groups {
            match self.whole_bins(group, &range_ns) {
                Some(bins_ns) => {
                    for location in &group.locations {
                        rest.push((*location, range_ns.start..bins_ns.start));
                        rest.push((*location, bins_ns.end..range_ns.end));
                    }
                    whole.push((group, bins_ns));
                }
                None => rest.extend(group.locations.iter().map(|location| (*location, range_ns.clone()))),
            }
        }
        rest.extend(cover.locations.into_iter().map(|location| (location, range_ns.clone())));
        rest.retain(|(_, range_ns)| range_ns.start < range_ns.end);

        let of_groups = whole.par_iter().map(|(group, bins_ns)| {
            let mut sums = Sums::default();
            let mut buffers = Buffers::default();
            self.add_tree(&group.tree, bins_ns, &mut buffers.frames, &mut sums, |_, _| {
                Err(LevelsError::Damaged)
            })?;
            Ok::<Sums, LevelsError>(sums)
        });
        let of_rest = rest.par_chunks(64).map(|some| {
            let mut sums = Sums::default();
            let mut buffers = Buffers::default();
            for (location, range_ns) in some {
                self.add_location(*location, range_ns, &mut buffers, &mut sums)?;
            }
            Ok(sums)
        });
        let add = |mut sums: Sums, other: Sums| {
            sums += other;
            Ok(sums)
        };
        total += of_groups.try_reduce(Sums::default, add)?;
        total += of_rest.try_reduce(Sums::default, add)?;
        self.directory().lost_within(&locations, &range_ns).for_each(|lost| total.lose(lost.clone()));
        Ok(total.settle())
    }

    /// The time of these locations by account in bins: a row of a picture. Exact. Where the bins of groups fit
    /// into these bins, nothing else is read.
    pub fn bins(&self, locations: &[Location], place: BinsIn) -> Result<Vec<AccountSums>, LevelsError> {
        self.bins_by(locations, place, |key| Some(key.account))
    }

    /// As [`Levels::bins`], by what `counts_as` says of a key; its time is left out where that is none.
    pub fn bins_by<K: Ord>(
        &self,
        locations: &[Location],
        place: BinsIn,
        counts_as: impl Fn(Key) -> Option<K>,
    ) -> Result<Vec<BTreeMap<K, u128>>, LevelsError> {
        let mut locations = locations.to_vec();
        locations.sort_unstable();
        locations.dedup();
        let mut bins = Bins::new(place, counts_as);
        let mut cover = self.cover(&locations);
        let fits = bins.fits(self.bin_ns());
        let mut buffers = Buffers::default();
        for group in cover.groups {
            if fits {
                let range_ns = bins.range_ns();
                self.walk(&group.tree, &range_ns, &mut buffers.frames, &mut |node, bin| match (
                    add_node(&mut bins, &node)?,
                    bin,
                ) {
                    (false, Some(_)) => Err(LevelsError::Damaged),
                    (done, _) => Ok(done),
                })?;
            } else {
                cover.locations.extend(&group.locations);
            }
        }
        for location in cover.locations {
            self.add_to_bins(location, &mut bins, &mut buffers)?;
        }
        Ok(bins.into_sums())
    }

    /// Records of a location for a picture: one for each of the largest nodes that overlap the range and last
    /// `width_ns` at most, or are blocks.
    pub fn drawn(
        &self,
        location: Location,
        range_ns: Range<u64>,
        width_ns: u64,
    ) -> Result<Vec<Drawn>, LevelsError> {
        let mut drawn = Vec::new();
        let Some(tree) = self.directory().tree(location) else { return Ok(drawn) };
        self.walk(tree, &range_ns, &mut Vec::new(), &mut |node, block| {
            let done = block.is_some() || node.end_ns - node.begin_ns <= width_ns;
            if done {
                drawn.extend(node.drawn().ok_or(LevelsError::Damaged)?);
            }
            Ok(done)
        })?;
        Ok(drawn)
    }

    /// The largest groups that lie within sorted locations, and what is left.
    fn cover(&self, locations: &[Location]) -> Cover<'_> {
        let mut left = vec![true; locations.len()];
        let mut groups = Vec::new();
        for group in self.directory().groups.iter().rev() {
            if group.locations.len() > locations.len() || group.locations.is_empty() {
                continue;
            }
            let places: Option<Vec<usize>> = group
                .locations
                .iter()
                .map(|location| locations.binary_search(location).ok().filter(|&at| left[at]))
                .collect();
            if let Some(places) = places {
                places.into_iter().for_each(|at| left[at] = false);
                groups.push(group);
            }
        }
        let locations = locations.iter().zip(left).filter(|(_, left)| *left).map(|(location, _)| *location);
        Cover { groups, locations: locations.collect() }
    }

    /// The bins of a group that lie within a range, as a range of time; behind its last bin there is nothing.
    fn whole_bins(&self, group: &GroupEntry, range_ns: &Range<u64>) -> Option<Range<u64>> {
        let shift = self.directory().bin_shift;
        let last = group.tree.first()?.len().checked_mul(FAN)?;
        // The last frame may have less than 64 bins; those behind are empty.
        let first = range_ns.start.div_ceil(1 << shift);
        let end_ns = (last as u128) << shift;
        let end = if u128::from(range_ns.end) >= end_ns { last as u64 } else { range_ns.end >> shift };
        if first >= end {
            return None;
        }
        let end_ns = if end == last as u64 { range_ns.end } else { end << shift };
        Some(first << shift..end_ns)
    }

    fn add_location(
        &self,
        location: Location,
        range_ns: &Range<u64>,
        buffers: &mut Buffers,
        sums: &mut Sums,
    ) -> Result<(), LevelsError> {
        let stream = self.file.stream::<R>(location);
        let Some(tree) = self.directory().tree(location) else { return Ok(()) };
        if count_within(stream, range_ns) <= FEW_BLOCKS {
            add_by_scan(stream, range_ns, &mut buffers.reading, sums);
            return Ok(());
        }
        let reading = &mut buffers.reading;
        self.add_tree(tree, range_ns, &mut buffers.frames, sums, |block, sums| {
            if block >= stream.blocks().len() {
                return Err(LevelsError::Damaged);
            }
            add_block(stream, block, range_ns, reading, sums);
            Ok(())
        })
    }

    /// Adds the nodes within a range; `border` adds what the border cuts at the lowest level.
    fn add_tree(
        &self,
        tree: &Tree,
        range_ns: &Range<u64>,
        frames: &mut Vec<Vec<u8>>,
        sums: &mut Sums,
        mut border: impl FnMut(usize, &mut Sums) -> Result<(), LevelsError>,
    ) -> Result<(), LevelsError> {
        self.walk(tree, range_ns, frames, &mut |node, number| {
            let whole = range_ns.start <= node.begin_ns && node.end_ns <= range_ns.end;
            match number {
                _ if whole => {
                    node.sums(|key, ns| sums.add(key, ns)).ok_or(LevelsError::Damaged)?;
                    Ok(true)
                }
                Some(number) => border(number, sums).map(|()| true),
                None => Ok(false),
            }
        })
    }

    /// Shows the nodes of a tree that overlap a range, from the top. `visit` answers whether it is done with
    /// a node; otherwise those below are shown. At the lowest level it gets the node's number, and must be
    /// done.
    fn walk(
        &self,
        tree: &Tree,
        range_ns: &Range<u64>,
        frames: &mut Vec<Vec<u8>>,
        visit: &mut impl FnMut(NodeView<'_>, Option<usize>) -> Result<bool, LevelsError>,
    ) -> Result<(), LevelsError> {
        if frames.len() < tree.len() {
            frames.resize_with(tree.len(), Vec::new);
        }
        match tree.len().checked_sub(1) {
            Some(top) if !tree[top].is_empty() => self.walk_frame(tree, (top, 0), range_ns, frames, visit),
            _ => Ok(()),
        }
    }

    fn walk_frame(
        &self,
        tree: &Tree,
        (level, at): (usize, usize),
        range_ns: &Range<u64>,
        frames: &mut Vec<Vec<u8>>,
        visit: &mut impl FnMut(NodeView<'_>, Option<usize>) -> Result<bool, LevelsError>,
    ) -> Result<(), LevelsError> {
        let place = *tree[level].get(at).ok_or(LevelsError::Damaged)?;
        let mut bytes = std::mem::take(&mut frames[level]);
        self.read_frame(place, &mut bytes)?;
        let mut children = nodes(&bytes).ok_or(LevelsError::Damaged)?;
        let mut child = at * FAN;
        while let Some(node) = children.next() {
            let node = node.ok_or(LevelsError::Damaged)?;
            if node.begin_ns < range_ns.end && node.end_ns > range_ns.start {
                let done = visit(node, (level == 0).then_some(child))?;
                match level.checked_sub(1) {
                    Some(below) if !done => self.walk_frame(tree, (below, child), range_ns, frames, visit)?,
                    _ => {}
                }
            }
            child += 1;
        }
        frames[level] = bytes;
        Ok(())
    }

    fn read_frame(&self, place: Place, bytes: &mut Vec<u8>) -> Result<(), LevelsError> {
        bytes.resize(place.length as usize, 0);
        Ok(ReadAt::read_exact_at(&self.levels.file, bytes, place.offset)?)
    }

    fn add_to_bins<K: Ord>(
        &self,
        location: Location,
        bins: &mut Bins<K, impl Fn(Key) -> Option<K>>,
        buffers: &mut Buffers,
    ) -> Result<(), LevelsError> {
        let stream = self.file.stream::<R>(location);
        let Some(tree) = self.directory().tree(location) else { return Ok(()) };
        let range_ns = bins.range_ns();
        let reading = &mut buffers.reading;
        let mut records = Vec::new();
        self.walk(tree, &range_ns, &mut buffers.frames, &mut |node, block| {
            if add_node(bins, &node)? {
                return Ok(true);
            }
            let Some(block) = block else { return Ok(false) };
            if block >= stream.blocks().len() {
                return Err(LevelsError::Damaged);
            }
            records.clear();
            // A picture shows what can be read; the exact figures beside it say what cannot.
            if stream.read_records(block, reading, &mut records).is_ok() {
                records.iter().for_each(|record| bins.add_record(record));
            }
            Ok(true)
        })
    }
}

/// Adds a node that lies within one bin. Answers whether it did.
fn add_node<K: Ord>(
    bins: &mut Bins<K, impl Fn(Key) -> Option<K>>,
    node: &NodeView<'_>,
) -> Result<bool, LevelsError> {
    let Some(bin) = bins.only_bin(node.begin_ns, node.end_ns) else { return Ok(false) };
    node.sums(|key, ns| bins.add(bin, key, ns)).ok_or(LevelsError::Damaged)?;
    Ok(true)
}
