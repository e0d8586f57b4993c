use crate::build::{build, chain, resolve, symbols};

/// A label without size before five pages of code, and a function without size before as many.
const LABELS: &str = "
    .text
    .globl a_label, a_function
a_label:
    .skip 20480, 0x90
    ret
    .type a_function, @function
a_function:
    .skip 20480, 0x90
    ret
    .section .note.GNU-stack,\"\",@progbits
";

#[test]
fn a_label_without_size_does_not_name_code_far_behind_it() {
    let main = "int main(void) { return 0; }\n";
    let Some(program) = build("cc", &[("labels.s", LABELS), ("main.c", main)], &[]) else { return };
    let symbols = symbols(&program.binary);
    let (label, function) = (symbols["a_label"].0, symbols["a_function"].0);
    let structure =
        resolve(&program.binary, &[label, label + 4095, label + 4096, label + 20_000, function + 20_000]);
    let name = |address: u64| chain(&structure, address)[0].0.clone();
    assert_eq!(name(label), "a_label");
    assert_eq!(name(label + 4095), "a_label");
    assert!(name(label + 4096).starts_with("program+0x"), "{}", name(label + 4096));
    assert!(name(label + 20_000).starts_with("program+0x"), "{}", name(label + 20_000));
    // Whoever calls it a function says that all of it is one.
    assert_eq!(name(function + 20_000), "a_function");
}
