//! The memo against the full unwind, on stacks that change in every way a program can change them.

use super::memo::{Memo, Surroundings, UpperEnd};
use super::module::Module;
use super::reference::Reference;
use super::stack::OwnStack;
use super::tree::{Frame, NodeId, Tree};
use super::{Announce, maps, modules, rules};
use crate::operation::here;
use crate::operation::known_paths::Keeps;
use crate::operation::word_trie::WordTrie;

struct Silent;

impl Announce for Silent {
    fn module(&mut self, _: &Module) {}
    fn node(&mut self, _: NodeId, _: &Frame) {}
}

/// One thread's walker.
struct Walker {
    memo: Memo,
    tree: Tree,
    reference: Reference,
    own_stack: OwnStack,
    paths: u64,
    /// Paths that were found before, and how many were found there.
    known: WordTrie,
    met: u64,
}

impl Walker {
    fn new() -> Walker {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            modules::load_initial();
            rules::prepare_step_cache();
        });
        let local = 0_u8;
        let range = maps::find(&raw const local as u64).unwrap().range;
        Walker {
            memo: Memo::default(),
            tree: Tree::default(),
            reference: Reference::default(),
            own_stack: OwnStack { low: range.start, top: range.end },
            paths: 0,
            known: WordTrie::default(),
            met: 0,
        }
    }

    /// Takes the path from here and compares it with a full unwind.
    #[inline(never)]
    fn look(&mut self) -> NodeId {
        let leaf = here!();
        let mut silent = Silent;
        let process = std::process::id();
        let mut around =
            Surroundings { own_stack: self.own_stack, process, is_own: true, announce: &mut silent };
        let known = self.known.find(&leaf);
        let path = self.memo.path(leaf, &mut self.tree, &mut around);
        assert!(known == 0 || known == path.node, "{known} is known, and {} is right", path.node);
        self.met += u64::from(known != 0);
        self.known.keep(&leaf, path.node, &self.memo);
        assert_eq!(path.upper_end, UpperEnd::Complete);
        assert!(self.reference.agrees(leaf, path.node, &self.tree, &around));
        self.paths += 1;
        path.node
    }
}

/// Descends by a pattern of frames of different shapes, looking on the way down and up.
#[inline(never)]
fn wander(walker: &mut Walker, mut pattern: u64, depth: u32) -> u64 {
    if depth == 0 {
        walker.look();
        return pattern;
    }
    let shape = pattern % 5;
    pattern = pattern.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let rest = pattern >> 7;
    let result = match shape {
        0 => wander(walker, rest, depth - 1),
        1 => small(walker, rest, depth - 1),
        2 => large(walker, rest, depth - 1),
        3 => [rest, rest ^ 1].iter().fold(0, |sum, &next| sum ^ wander(walker, next, depth.min(3) - 1)),
        _ => {
            walker.look();
            wander(walker, rest, depth - 1)
        }
    };
    if pattern.is_multiple_of(3) {
        walker.look();
    }
    std::hint::black_box(result ^ pattern)
}

#[inline(never)]
fn small(walker: &mut Walker, pattern: u64, depth: u32) -> u64 {
    let kept = std::hint::black_box(pattern.rotate_left(5));
    wander(walker, pattern, depth) ^ kept
}

#[inline(never)]
fn large(walker: &mut Walker, pattern: u64, depth: u32) -> u64 {
    let mut block = std::hint::black_box([pattern; 300]);
    block[(pattern % 300) as usize] = wander(walker, pattern, depth);
    std::hint::black_box(&block).iter().fold(0, |sum, &word| sum ^ word)
}

#[inline(never)]
fn one_place(walker: &mut Walker) -> NodeId {
    std::hint::black_box(walker.look())
}

#[test]
fn the_memo_equals_the_full_unwind_on_wandering_stacks() {
    let mut walker = Walker::new();
    for seed in 0..1500_u64 {
        wander(&mut walker, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 5 + (seed % 40) as u32);
    }
    assert!(walker.paths > 3000, "{}", walker.paths);
}

#[test]
fn equal_stacks_have_equal_nodes_and_different_ones_do_not() {
    let mut walker = Walker::new();
    let mut nodes = Vec::new();
    // One call in the code, taken several times.
    while nodes.len() < std::hint::black_box(5) {
        nodes.push(one_place(&mut walker));
    }
    assert!(nodes.iter().collect::<std::collections::BTreeSet<_>>().len() < 3, "{nodes:?}");
    #[inline(never)]
    fn deeper(walker: &mut Walker) -> NodeId {
        std::hint::black_box(walker.look())
    }
    assert_ne!(deeper(&mut walker), nodes[0]);
}

#[test]
fn deep_recursion_is_followed_to_its_end() {
    let worker = std::thread::Builder::new().stack_size(64 << 20).spawn(|| {
        let mut walker = Walker::new();
        #[inline(never)]
        fn down(walker: &mut Walker, depth: u32) -> u32 {
            if depth == 0 {
                walker.look();
                return 0;
            }
            let result = down(walker, depth - 1) + 1;
            if depth.is_multiple_of(1000) {
                walker.look();
            }
            std::hint::black_box(result)
        }
        for _ in 0..3 {
            assert_eq!(down(&mut walker, 20_000), 20_000);
        }
    });
    worker.unwrap().join().unwrap();
}

#[test]
fn stacks_that_cannot_be_read_directly_give_the_same_paths() {
    let mut walker = Walker::new();
    let stacks = std::hint::black_box([walker.own_stack, OwnStack::default()]);
    let mut nodes = std::collections::BTreeSet::new();
    // Not a loop that the compiler could unroll: each copy would be another place.
    while walker.paths < std::hint::black_box(6) {
        walker.own_stack = stacks[walker.paths as usize % 2];
        nodes.insert(one_place(&mut walker));
    }
    assert_eq!(nodes.len(), 1);
}

/// Hundreds of paths from one instruction, at few depths: as of a library that calls another one for its
/// callers.
#[test]
fn paths_that_were_found_are_known_by_their_words() {
    let mut walker = Walker::new();
    let round = |walker: &mut Walker| {
        let before = (walker.paths, walker.met);
        for seed in 0..200_u64 {
            wander(walker, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 5 + (seed % 40) as u32);
        }
        (walker.paths - before.0, walker.met - before.1)
    };
    // The memory begins small and is made larger, whereupon all are unknown again.
    let rounds: Vec<(u64, u64)> = (0..5).map(|_| round(&mut walker)).collect();
    let (paths, met) = rounds[4];
    assert!(paths > 400 && met == paths, "{rounds:?}");
    assert!(rounds[0].1 < rounds[0].0 / 2, "{rounds:?}");
    walker.known.forget();
    assert_eq!(walker.known.find(&here!()), 0);
}
