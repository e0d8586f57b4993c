//! Paths of stacks whose calls are known.

use proust_memory_model::path::Announce;
use proust_memory_model::path::memo::{Memo, Surroundings, UpperEnd};
use proust_memory_model::path::module::Module;
use proust_memory_model::path::tree::{Frame, NodeId, Tree};
use proust_memory_model::stacks::Stack;

/// An interpreter needs a thousand times as long.
const STEPS: u64 = if cfg!(miri) { 250 } else { 100_000 };

#[derive(Default)]
struct Announced(NodeId);

impl Announce for Announced {
    fn module(&mut self, _: &Module) {}

    fn node(&mut self, id: NodeId, _: &Frame) {
        assert_eq!(id, self.0 + 1, "each once, in the order of their numbers");
        self.0 = id;
    }
}

#[derive(Default)]
struct Walker {
    memo: Memo,
    tree: Tree,
    announced: Announced,
}

impl Walker {
    /// The path of the stack as it is, which must be that of its calls.
    fn look(&mut self, stack: &Stack) -> NodeId {
        let mut around =
            Surroundings { own_stack: stack.own(), process: 1, is_own: true, announce: &mut self.announced };
        let path = self.memo.path(stack.leaf(), &mut self.tree, &mut around);
        assert_eq!(path.upper_end, UpperEnd::Complete);
        let mut node = path.node;
        for lookup in stack.lookups() {
            let frame = self.tree.frame(node).expect("as many frames as calls");
            assert_eq!(frame.lookup, lookup);
            node = frame.parent;
        }
        assert_eq!(node, 0);
        path.node
    }
}

/// The next of a row of numbers that look drawn.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn wander(stack: &mut Stack, seed: u64) {
    let (mut walker, mut state) = (Walker::default(), seed);
    for _ in 0..STEPS {
        match next(&mut state) % 8 {
            0..3 => {
                let (function, place, bp) = (next(&mut state), next(&mut state), next(&mut state));
                // Few places, so that paths repeat.
                stack.call(function % 20 + 1, place % 3, bp % 2);
            }
            3..6 => stack.leave(next(&mut state) % 5),
            6 => {
                for _ in 0..next(&mut state) % 6 {
                    stack.leave(1);
                }
            }
            _ => {
                let node = walker.look(stack);
                assert_eq!(walker.look(stack), node, "nothing has changed");
            }
        }
    }
}

#[test]
fn the_path_of_the_own_stack_is_that_of_its_calls() {
    wander(&mut Stack::new(600, true), 1);
}

#[test]
fn the_path_of_another_stack_is_that_of_its_calls() {
    wander(&mut Stack::new(600, false), 2);
}

#[test]
fn a_deep_path_grows_what_it_needs() {
    for is_own in [true, false] {
        let deepest = if cfg!(miri) { 150 } else { 1000 };
        let mut stack = Stack::new(10_000, is_own);
        let mut walker = Walker::default();
        for depth in 0..deepest {
            assert!(stack.call(depth % 50 + 1, depth, depth));
            if depth % 41 == 0 {
                walker.look(&stack);
            }
        }
        walker.look(&stack);
        while stack.depth() > 1 {
            stack.leave(0);
            if stack.depth() % 41 == 0 {
                walker.look(&stack);
            }
        }
    }
}

#[test]
fn a_path_that_leads_out_of_the_stack_ends_there() {
    for function in 1..8 {
        for words_left in 1..6 {
            for is_own in [true, false] {
                let stack = Stack::of_one(function, words_left, is_own);
                let (mut memo, mut tree, mut announced) =
                    (Memo::default(), Tree::default(), Announced::default());
                let mut around = Surroundings {
                    own_stack: stack.own(),
                    process: 1,
                    is_own: true,
                    announce: &mut announced,
                };
                let path = memo.path(stack.leaf(), &mut tree, &mut around);
                assert_ne!(path.upper_end, UpperEnd::Truncated);
                assert_ne!(path.node, 0);
            }
        }
    }
}

#[test]
fn threads_have_paths_of_their_own() {
    std::thread::scope(|scope| {
        for seed in 3..6 {
            scope.spawn(move || wander(&mut Stack::new(300, true), seed));
        }
    });
}

#[test]
fn a_tree_gives_each_frame_one_node() {
    let (mut tree, mut announced) = (Tree::default(), Announced::default());
    let nodes = if cfg!(miri) { 100 } else { 20_000_u64 };
    let frames: Vec<Frame> = (0..nodes)
        .map(|i| Frame { parent: (i / 3) as u32, module: (i % 5) as u32, lookup: i * 16 })
        .collect();
    let ids: Vec<_> = frames.iter().map(|&frame| tree.child(frame, &mut announced).unwrap()).collect();
    for (frame, id) in frames.iter().zip(ids) {
        assert_eq!(tree.child(*frame, &mut announced), Some(id));
        assert_eq!((tree.frame(id), tree.known(*frame)), (Some(*frame), Some(id)));
    }
    assert_eq!(u64::from(announced.0), nodes);
}
