//! A node: exact time by key of some records, and one of them.

use rustc_hash::FxHashMap;

use super::drawn::Drawn;
use crate::record::Key;
use crate::varint::{Bytes, put, put_u64};

/// Time by account, ns, in the order of accounts.
pub type AccountSums = std::collections::BTreeMap<u8, u128>;

/// The sums of a block, of a bin, or of the nodes below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub begin_ns: u64,
    pub end_ns: u64,
    pub records: u64,
    pub drawn: Option<Drawn>,
    /// By key; none is 0.
    pub sums: Vec<(Key, u128)>,
}

impl Node {
    pub fn total_ns(&self) -> u128 {
        self.sums.iter().map(|(_, ns)| ns).sum()
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        put_u64(bytes, self.begin_ns);
        put_u64(bytes, self.end_ns - self.begin_ns);
        put_u64(bytes, self.records);
        match self.drawn {
            None => bytes.push(0),
            Some(drawn) => {
                bytes.push(1);
                put_u64(bytes, drawn.begin_ns);
                put_u64(bytes, drawn.end_ns - drawn.begin_ns);
                put_u64(bytes, drawn.key.number());
            }
        }
        put_u64(bytes, self.sums.len() as u64);
        let mut last = 0;
        for &(key, ns) in &self.sums {
            put_u64(bytes, key.number() - last);
            put(bytes, ns);
            last = key.number();
        }
    }
}

/// Sums as a list by key.
pub(super) fn sorted(sums: &FxHashMap<Key, u128>) -> Vec<(Key, u128)> {
    let mut list: Vec<(Key, u128)> =
        sums.iter().map(|(key, ns)| (*key, *ns)).filter(|(_, ns)| *ns > 0).collect();
    list.sort_unstable_by_key(|(key, _)| *key);
    list
}

/// A frame of nodes, with its check.
pub(super) fn frame(nodes: &[Node]) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    put_u64(&mut bytes, nodes.len() as u64);
    let mut one = Vec::new();
    for node in nodes {
        one.clear();
        node.put(&mut one);
        put_u64(&mut bytes, one.len() as u64);
        bytes.extend(&one);
    }
    let length = (bytes.len() - 8) as u32;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    let crc = crc32fast::hash(&bytes[4..]);
    bytes[..4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// The nodes of a frame. Lists are read only where they are asked for.
pub(super) fn nodes(frame: &[u8]) -> Option<Nodes<'_>> {
    let mut bytes = Bytes(frame);
    let crc = u32::from_le_bytes(bytes.take(4)?.try_into().ok()?);
    let checked = bytes.0;
    let length = u32::from_le_bytes(bytes.take(4)?.try_into().ok()?);
    if length as usize != bytes.0.len() || crc32fast::hash(checked) != crc {
        return None;
    }
    let left = bytes.count()?;
    Some(Nodes { bytes, left })
}

pub(super) struct Nodes<'a> {
    bytes: Bytes<'a>,
    left: usize,
}

impl<'a> Nodes<'a> {
    /// The next node; `Some(None)` where the frame contradicts itself.
    pub fn next(&mut self) -> Option<Option<NodeView<'a>>> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }

    fn read(&mut self) -> Option<NodeView<'a>> {
        let length = usize::try_from(self.bytes.u64()?).ok()?;
        let mut bytes = Bytes(self.bytes.take(length)?);
        let begin_ns = bytes.u64()?;
        let end_ns = begin_ns.checked_add(bytes.u64()?)?;
        let records = bytes.u64()?;
        Some(NodeView { begin_ns, end_ns, records, bytes })
    }
}

pub(super) struct NodeView<'a> {
    pub begin_ns: u64,
    pub end_ns: u64,
    pub records: u64,
    bytes: Bytes<'a>,
}

impl NodeView<'_> {
    /// Its drawn record.
    pub fn drawn(&self) -> Option<Option<Drawn>> {
        read_drawn(&mut self.bytes.clone())
    }

    /// Its list. Nothing may be kept of it if the answer is `None`.
    pub fn sums(&self, mut add: impl FnMut(Key, u128)) -> Option<()> {
        let mut bytes = self.bytes;
        read_drawn(&mut bytes)?;
        let mut key = 0u64;
        for _ in 0..bytes.count()? {
            key = key.checked_add(bytes.u64()?)?;
            add(Key::from_number(key)?, bytes.u128()?);
        }
        Some(())
    }

    pub fn to_node(&self) -> Option<Node> {
        let mut sums = Vec::new();
        self.sums(|key, ns| sums.push((key, ns)))?;
        let (begin_ns, end_ns, records) = (self.begin_ns, self.end_ns, self.records);
        Some(Node { begin_ns, end_ns, records, drawn: self.drawn()?, sums })
    }
}

fn read_drawn(bytes: &mut Bytes<'_>) -> Option<Option<Drawn>> {
    if bytes.u8()? == 0 {
        return Some(None);
    }
    let begin_ns = bytes.u64()?;
    let end_ns = begin_ns.checked_add(bytes.u64()?)?;
    Some(Some(Drawn { begin_ns, end_ns, key: Key::from_number(bytes.u64()?)? }))
}
