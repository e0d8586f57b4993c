//! How levels are made. Memory: the nodes of a frame and of the levels above it, for each location or group
//! that is worked on.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::directory::{Directory, GroupEntry, Place, Tree};
use super::drawn::{Drawing, Drawn};
use super::node::{Node, frame, nodes, sorted};
use super::{FAN, MAGIC};
use crate::file::StreamFile;
use crate::lost::Lost;
use crate::reader::Reading;
use crate::record::{Key, Location, Summed};
use crate::source::ReadAt;

/// Records of a group in a bin, about.
const RECORDS_IN_BIN: u64 = 4096;
/// Locations whose levels are made before they are written, frames of a group likewise.
const AT_ONCE: usize = 64;

/// Locations whose time is summed together: 64 of them, a process, a rank, a host, the run. A location with
/// very many records may have a group for itself: it has bins of time then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// By the caller's numbers.
    pub id: u32,
    /// Of what it consists.
    pub members: Members,
}

/// What a group consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Locations.
    Locations(Vec<Location>),
    /// Groups before it, by position; no location is in two of them.
    Groups(Vec<usize>),
}

/// What levels are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelOptions {
    /// Groups of locations; those that are in others come first.
    pub groups: Vec<Group>,
    /// Bins have 2ᵏ ns. Where several files are to have the same bins the caller chooses k; otherwise it
    /// follows from the number of records.
    pub bin_shift: Option<u32>,
}

/// Frames one after the other into a file that can be read again while it is written.
struct FrameWriter {
    to: BufWriter<File>,
    offset: u64,
}

impl FrameWriter {
    fn frame(&mut self, bytes: &[u8]) -> io::Result<Place> {
        self.to.write_all(bytes)?;
        let place = Place { offset: self.offset, length: bytes.len() as u32 };
        self.offset += bytes.len() as u64;
        Ok(place)
    }

    /// Writes the levels above a level of frames, each of which has a node.
    fn above(&mut self, seed: u64, mut below: Vec<Node>, tree: &mut Tree) -> io::Result<()> {
        while below.len() > 1 {
            let level = tree.len() as u64;
            let (mut places, mut next) = (Vec::new(), Vec::new());
            for (at, children) in below.chunks(FAN).enumerate() {
                places.push(self.frame(&frame(children))?);
                next.push(parent(children, [seed, level, at as u64]));
            }
            tree.push(places);
            below = next;
        }
        Ok(())
    }
}

/// The node of a frame.
fn parent(children: &[Node], seed: [u64; 3]) -> Node {
    let mut sums = FxHashMap::default();
    let mut drawing = Drawing::new(seed);
    for child in children {
        for &(key, ns) in &child.sums {
            *sums.entry(key).or_default() += ns;
        }
        if let Some(drawn) = child.drawn {
            drawing.offer(child.total_ns(), drawn);
        }
    }
    Node {
        begin_ns: children.first().map_or(0, |child| child.begin_ns),
        end_ns: children.last().map_or(0, |child| child.end_ns),
        records: children.iter().map(|child| child.records).sum(),
        drawn: drawing.drawn(),
        sums: sorted(&sums),
    }
}

pub(super) fn build<R: Summed, S: ReadAt>(
    file: &StreamFile<S>,
    levels: &File,
    options: &LevelOptions,
) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(1 << 18, levels.try_clone()?);
    to.write_all(MAGIC)?;
    let mut writer = FrameWriter { to, offset: MAGIC.len() as u64 };

    let locations = file.locations::<R>();
    let mut directory = Directory {
        kind: R::KIND,
        digest: file.digest(),
        bin_shift: options.bin_shift.unwrap_or_else(|| bin_shift::<R, S>(file, &locations, options)),
        locations: Vec::with_capacity(locations.len()),
        groups: Vec::new(),
        lost: Vec::new(),
    };
    for some in locations.chunks(AT_ONCE) {
        let made: Vec<OfLocation> =
            some.par_iter().map(|&location| of_location::<R, S>(file, location)).collect();
        for (&location, made) in some.iter().zip(made) {
            let mut tree = Tree::new();
            let frames: io::Result<Vec<Place>> =
                made.frames.iter().map(|bytes| writer.frame(bytes)).collect();
            tree.push(frames?);
            writer.above(u64::from(location.0), made.nodes, &mut tree)?;
            directory.locations.push((location, tree));
            directory.lost.extend(made.lost);
        }
    }
    for group in &options.groups {
        let entry = of_group::<R, S>(file, &directory, group, levels, &mut writer)?;
        directory.groups.push(entry);
    }
    let bytes = directory.to_bytes(writer.offset);
    writer.to.write_all(&bytes)?;
    writer.to.flush()
}

/// The k for which a bin has some 4096 records of a group of locations: with 64 to 65 536 bins.
fn bin_shift<R: Summed, S: ReadAt>(
    file: &StreamFile<S>,
    locations: &[Location],
    options: &LevelOptions,
) -> u32 {
    let records: u64 = locations.iter().map(|&location| file.stream::<R>(location).count()).sum();
    let lowest = options.groups.iter().filter(|group| matches!(group.members, Members::Locations(_))).count();
    let bins = (records / RECORDS_IN_BIN / (lowest as u64).max(1)).clamp(64, 65_536);
    let shift = (0..63).find(|shift| end_ns::<R, S>(file, locations) >> shift < bins);
    shift.unwrap_or(63)
}

fn end_ns<R: Summed, S: ReadAt>(file: &StreamFile<S>, locations: &[Location]) -> u64 {
    let last = |&location| file.stream::<R>(location).blocks().last().map(|block| block.last_end_ns);
    locations.iter().filter_map(last).max().unwrap_or(0)
}

/// The lowest level of a location: its frames, and a node for each.
struct OfLocation {
    frames: Vec<Vec<u8>>,
    nodes: Vec<Node>,
    lost: Vec<Lost>,
}

fn of_location<R: Summed, S: ReadAt>(file: &StreamFile<S>, location: Location) -> OfLocation {
    let stream = file.stream::<R>(location);
    let mut made = OfLocation { frames: Vec::new(), nodes: Vec::new(), lost: Vec::new() };
    let (mut reading, mut records, mut sums) = (Reading::default(), Vec::new(), FxHashMap::default());
    let mut block_nodes = Vec::with_capacity(FAN);
    for (block, entry) in stream.blocks().iter().enumerate() {
        made.lost.extend(stream.missing_before(block));
        records.clear();
        sums.clear();
        let mut drawing = Drawing::new([u64::from(location.0), 0, u64::from(entry.sequence)]);
        if let Err(lost) = stream.read_records(block, &mut reading, &mut records) {
            made.lost.push(lost);
        }
        for record in &records {
            let (begin_ns, end_ns) = (record.begin_ns(), record.end_ns());
            record.charge(begin_ns, end_ns, |key, ns| *sums.entry(key).or_default() += u128::from(ns));
            drawing.offer(u128::from(end_ns - begin_ns), Drawn { begin_ns, end_ns, key: record.key() });
        }
        block_nodes.push(Node {
            begin_ns: entry.min_begin_ns,
            end_ns: entry.last_end_ns,
            records: records.len() as u64,
            drawn: drawing.drawn(),
            sums: sorted(&sums),
        });
        if block_nodes.len() == FAN || block + 1 == stream.blocks().len() {
            made.frames.push(frame(&block_nodes));
            made.nodes.push(parent(&block_nodes, [u64::from(location.0), 1, made.nodes.len() as u64]));
            block_nodes.clear();
        }
    }
    made
}

fn of_group<R: Summed, S: ReadAt>(
    file: &StreamFile<S>,
    directory: &Directory,
    group: &Group,
    levels: &File,
    writer: &mut FrameWriter,
) -> io::Result<GroupEntry> {
    let mut locations: Vec<Location> = match &group.members {
        Members::Locations(locations) => locations.clone(),
        Members::Groups(groups) => {
            groups.iter().flat_map(|&at| directory.groups[at].locations.iter().copied()).collect()
        }
    };
    locations.sort_unstable();
    locations.dedup();
    writer.to.flush()?;
    let shift = directory.bin_shift;
    let bins = (end_ns::<R, S>(file, &locations) >> shift) + 1;
    let frames = bins.div_ceil(FAN as u64);
    let seed = u64::from(group.id) | 1 << 32;
    let (mut places, mut above) = (Vec::new(), Vec::new());
    for first in (0..frames).step_by(AT_ONCE) {
        let made: io::Result<Vec<Vec<Node>>> = (first..frames.min(first + AT_ONCE as u64))
            .into_par_iter()
            .map(|at| {
                let bins = at * FAN as u64..bins.min((at + 1) * FAN as u64);
                match &group.members {
                    Members::Locations(_) => {
                        Ok(bins_of_locations::<R, S>(file, &locations, shift, bins, seed))
                    }
                    Members::Groups(groups) => {
                        bins_of_groups(directory, groups, levels, at, shift, bins, seed)
                    }
                }
            })
            .collect();
        for nodes in made? {
            above.push(parent(&nodes, [seed, 1, above.len() as u64]));
            places.push(writer.frame(&frame(&nodes))?);
        }
    }
    let mut tree = vec![places];
    writer.above(seed, above, &mut tree)?;
    Ok(GroupEntry { id: group.id, locations, tree })
}

/// A bin while its time is added up.
struct Cell {
    sums: FxHashMap<Key, u128>,
    drawing: Drawing,
    records: u64,
}

impl Cell {
    fn new(seed: u64, bin: u64) -> Cell {
        Cell { sums: FxHashMap::default(), drawing: Drawing::new([seed, 0, bin]), records: 0 }
    }

    fn node(&self, shift: u32, bin: u64) -> Node {
        let begin_ns = bin << shift;
        let end_ns = begin_ns.saturating_add(1 << shift);
        Node {
            begin_ns,
            end_ns,
            records: self.records,
            drawn: self.drawing.drawn(),
            sums: sorted(&self.sums),
        }
    }
}

fn bins_of_locations<R: Summed, S: ReadAt>(
    file: &StreamFile<S>,
    locations: &[Location],
    shift: u32,
    bins: Range<u64>,
    seed: u64,
) -> Vec<Node> {
    let mut cells: Vec<Cell> = bins.clone().map(|bin| Cell::new(seed, bin)).collect();
    let range_ns = bins.start << shift..(bins.end << shift).max(bins.start << shift);
    for &location in locations {
        // What is lost was found when the levels of the location were made.
        for record in file.stream::<R>(location).overlapping(range_ns.clone()).filter_map(Result::ok) {
            let (begin_ns, end_ns) = (record.begin_ns(), record.end_ns());
            if begin_ns == end_ns {
                continue;
            }
            let first = (begin_ns >> shift).max(bins.start);
            let last = ((end_ns - 1) >> shift).min(bins.end - 1);
            for bin in first..=last {
                let (from_ns, to_ns) = (bin << shift, (bin << shift).saturating_add(1 << shift));
                let cell = &mut cells[(bin - bins.start) as usize];
                record.charge(from_ns, to_ns, |key, ns| *cell.sums.entry(key).or_default() += u128::from(ns));
                let within_ns = end_ns.min(to_ns) - begin_ns.max(from_ns);
                cell.drawing.offer(u128::from(within_ns), Drawn { begin_ns, end_ns, key: record.key() });
                cell.records += 1;
            }
        }
    }
    cells.iter().zip(bins).map(|(cell, bin)| cell.node(shift, bin)).collect()
}

fn bins_of_groups(
    directory: &Directory,
    groups: &[usize],
    levels: &File,
    at: u64,
    shift: u32,
    bins: Range<u64>,
    seed: u64,
) -> io::Result<Vec<Node>> {
    let mut cells: Vec<Cell> = bins.clone().map(|bin| Cell::new(seed, bin)).collect();
    let mut bytes = Vec::new();
    for &group in groups {
        let Some(place) = directory.groups[group].tree[0].get(at as usize) else { continue };
        bytes.resize(place.length as usize, 0);
        levels.read_exact_at(&mut bytes, place.offset)?;
        let mut children = nodes(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        let mut cells = cells.iter_mut();
        while let (Some(child), Some(cell)) = (children.next(), cells.next()) {
            let child = child.and_then(|view| view.to_node()).ok_or(io::ErrorKind::InvalidData)?;
            for &(key, ns) in &child.sums {
                *cell.sums.entry(key).or_default() += ns;
            }
            if let Some(drawn) = child.drawn {
                cell.drawing.offer(child.total_ns(), drawn);
            }
            cell.records += child.records;
        }
    }
    Ok(cells.iter().zip(bins).map(|(cell, bin)| cell.node(shift, bin)).collect())
}
