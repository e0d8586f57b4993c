//! Chains of callers.

use super::*;

/// Pages show the chains of a few functions: they must be those that all functions together have.
#[test]
fn chains_of_one_function_are_those_among_all() {
    let profile = profile();
    let selection = Selection::all(&profile);
    let chains = |tree: &BottomUp, wanted: FunctionId| -> Vec<(Vec<FunctionId>, bool, u128, u128)> {
        let amounts = tree.amounts(&selection, Metric::Cpu);
        let chain = |id: usize| {
            let above = std::iter::successors(Some(id), |&id| tree.nodes[id].parent);
            above.map(|id| tree.nodes[id].function).collect::<Vec<_>>()
        };
        (0..tree.nodes.len())
            .filter(|&id| chain(id).last() == Some(&wanted))
            .map(|id| (chain(id), tree.nodes[id].recursive, amounts.inclusive[id], amounts.exclusive[id]))
            .collect()
    };
    let all = BottomUp::new(&selection, 10);
    let functions = BottomUp::new(&selection, 1);
    for id in profile.functions.keys() {
        let alone = BottomUp::of(&selection, 10, |function| function == id);
        assert_eq!(chains(&alone, id), chains(&all, id));
        let own = |tree: &BottomUp| {
            let root = |node: &Node| node.parent.is_none() && node.function == id;
            let amounts = tree.amounts(&selection, Metric::Cpu);
            tree.nodes.iter().position(root).map(|node| (amounts.inclusive[node], amounts.exclusive[node]))
        };
        assert_eq!(own(&functions), own(&all));
    }
}
