//! A lane's tree of contexts: each path is stored once.
//!
//! A node is a frame below its parent. The tree belongs to one thread at a time; it grows by mapping
//! memory, which a signal handler may do.

use crate::arena::{self, Table, spread};
use crate::path::Announce;

/// Number of a node in its lane; 0 is the root.
pub type NodeId = u32;

/// The key of a node: its parent and the code it represents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Node of the caller.
    pub parent: NodeId,
    /// Module number; 0 = none.
    pub module: u32,
    /// AVMA for lookup: the instruction, or the last byte of the call.
    pub lookup: u64,
}

/// Few, since of many threads hardly more is known than where they began.
const FIRST_SEGMENT_NODES: usize = 8;
const SEGMENTS: usize = 25;
const FIRST_SLOTS: usize = 16;

/// The tree.
pub struct Tree {
    segments: [*mut Frame; SEGMENTS],
    count: NodeId,
    /// Numbers of nodes, by their frames.
    numbers: Table<NodeId>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { segments: [core::ptr::null_mut(); SEGMENTS], count: 0, numbers: Table::default() }
    }
}

/// Segment and position of node `id` (from 1): segment k has 8·2^k nodes.
#[inline]
fn place(id: NodeId) -> (usize, usize) {
    let index = id as usize - 1 + FIRST_SEGMENT_NODES;
    let segment = (index / FIRST_SEGMENT_NODES).ilog2() as usize;
    (segment, index - (FIRST_SEGMENT_NODES << segment))
}

/// The frame of a node of a tree with `count` of them.
#[inline]
fn frame(segments: &[*mut Frame; SEGMENTS], count: NodeId, id: NodeId) -> Option<Frame> {
    if id == 0 || id > count {
        return None;
    }
    let (segment, at) = place(id);
    // SAFETY: every number up to `count` has its place in a mapped segment.
    Some(unsafe { *segments[segment].add(at) })
}

impl Tree {
    /// The frame of a node; None for the root and for numbers that were never given.
    #[inline]
    pub fn frame(&self, id: NodeId) -> Option<Frame> {
        frame(&self.segments, self.count, id)
    }

    /// The node of `frame`, if there is one. Changes nothing.
    pub fn known(&self, frame: Frame) -> Option<NodeId> {
        let mut known = None;
        self.numbers.position(Self::hash(&frame), |&id| {
            known = (self.frame(id) == Some(frame)).then_some(id);
            known.is_some()
        });
        known
    }

    /// The node of `frame`, made if needed; `announce` gets a new one. None if memory ran out.
    #[inline]
    pub fn child(&mut self, frame: Frame, announce: &mut dyn Announce) -> Option<NodeId> {
        if self.numbers.is_full() {
            self.grow()?;
        }
        let at = self.numbers.position(Self::hash(&frame), |&id| self.frame(id) == Some(frame))?;
        let known = *self.numbers.at(at)?;
        if known != 0 {
            return Some(known);
        }
        let id = self.add(frame)?;
        self.numbers.put(at, id);
        announce.node(id, &frame);
        Some(id)
    }

    fn add(&mut self, frame: Frame) -> Option<NodeId> {
        let id = self.count.checked_add(1)?;
        let (segment, at) = place(id);
        let slot = self.segments.get_mut(segment)?;
        if slot.is_null() {
            *slot = arena::pages((FIRST_SEGMENT_NODES << segment) * size_of::<Frame>()).cast();
            if slot.is_null() {
                return None;
            }
        }
        // SAFETY: `place` stays inside the segment, which was mapped with that size.
        unsafe { slot.add(at).write(frame) };
        self.count = id;
        Some(id)
    }

    #[inline]
    fn hash(frame: &Frame) -> u64 {
        let word = frame.lookup ^ (u64::from(frame.parent) << 40) ^ (u64::from(frame.module) << 28);
        spread(word.wrapping_add(u64::from(frame.parent)))
    }

    #[cold]
    fn grow(&mut self) -> Option<()> {
        let (segments, count) = (self.segments, self.count);
        let grown =
            self.numbers.grow(FIRST_SLOTS, |&id| frame(&segments, count, id).as_ref().map_or(0, Self::hash));
        grown.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::module::Module;

    #[derive(Default)]
    struct Heard(Vec<(NodeId, Frame)>);

    impl Announce for Heard {
        fn module(&mut self, _: &Module) {}
        fn node(&mut self, id: NodeId, frame: &Frame) {
            self.0.push((id, *frame));
        }
    }

    #[test]
    fn a_frame_is_stored_once_below_each_parent() {
        let (mut tree, mut heard) = (Tree::default(), Heard::default());
        let frame = |parent, lookup| Frame { parent, module: 1, lookup };
        let main = tree.child(frame(0, 10), &mut heard).unwrap();
        let left = tree.child(frame(main, 20), &mut heard).unwrap();
        let right = tree.child(frame(main, 30), &mut heard).unwrap();
        let below = tree.child(frame(left, 30), &mut heard).unwrap();
        assert_eq!([main, left, right, below], [1, 2, 3, 4]);
        assert_eq!(tree.child(frame(main, 30), &mut heard), Some(right));
        assert_eq!((tree.known(frame(main, 30)), tree.known(frame(main, 31))), (Some(right), None));
        assert_eq!(heard.0.len(), 4);
        assert_eq!(tree.frame(below), Some(frame(left, 30)));
        assert_eq!(tree.frame(0), None);
        assert_eq!(tree.frame(5), None);
        let reloaded = Frame { module: 2, ..frame(main, 30) };
        assert_ne!(tree.child(reloaded, &mut heard), Some(right));
    }

    #[test]
    fn growth_keeps_every_node() {
        let (mut tree, mut heard) = (Tree::default(), Heard::default());
        let frames: Vec<Frame> = (0..50_000_u64)
            .map(|i| Frame { parent: (i / 3) as u32, module: (i % 5) as u32, lookup: i * 16 })
            .collect();
        let ids: Vec<_> = frames.iter().map(|&frame| tree.child(frame, &mut heard).unwrap()).collect();
        assert_eq!(heard.0.len(), frames.len());
        for (frame, id) in frames.iter().zip(ids) {
            assert_eq!(tree.child(*frame, &mut heard), Some(id));
            assert_eq!(tree.frame(id), Some(*frame));
        }
        assert_eq!(heard.0.len(), frames.len());
    }

    #[test]
    fn places_follow_each_other_without_gap() {
        let mut expected = (0, 0);
        for id in 1..100_000 {
            assert_eq!(place(id), expected);
            expected.1 += 1;
            if expected.1 == FIRST_SEGMENT_NODES << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }
}
