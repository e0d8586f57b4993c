use super::*;

/// Where the code is loaded.
const BEGIN: u64 = 0x1000;
const NOTHING: [u64; 0] = [];

/// The addresses of these bytes at which something waits.
fn waiting(code: &[u8]) -> Vec<u64> {
    (0..code.len() as u64).filter(|at| waits(code, BEGIN, BEGIN + at, &|_| false)).collect()
}

#[test]
fn each_instruction_of_a_loop_that_waits_is_found_and_none_before_it() {
    // mov eax, 1 ; 5: mov ecx, [rdi] ; 7: test ecx, ecx ; 9: je 5 ; b: ret
    let code = [0xb8, 1, 0, 0, 0, 0x8b, 0x0f, 0x85, 0xc9, 0x74, 0xfa, 0xc3];
    assert_eq!(waiting(&code), [5, 7, 9]);
}

#[test]
fn a_register_that_changes_from_one_iteration_to_the_next_is_work() {
    // 0: mov ecx, [rdi] ; 2: add rdi, 4 ; 6: test ecx, ecx ; 8: je 0
    assert_eq!(waiting(&[0x8b, 0x0f, 0x48, 0x83, 0xc7, 4, 0x85, 0xc9, 0x74, 0xf6]), NOTHING);
    // The same, but it begins where it began before: 0: mov rsi, rdi ; 3: mov ecx, [rsi] ; 5: add rsi, 4 ;
    // 9: test ecx, ecx ; b: je 0
    let again = [0x48, 0x89, 0xfe, 0x8b, 0x0e, 0x48, 0x83, 0xc6, 4, 0x85, 0xc9, 0x74, 0xf3];
    assert_eq!(waiting(&again), [0, 3, 5, 9, 11]);
}

#[test]
fn what_may_be_skipped_is_not_surely_written() {
    // 0: test esi, esi ; 2: je 7 ; 4: mov rax, rdi ; 7: mov ecx, [rax] ; 9: test ecx, ecx ; b: je 0
    // Without a write rax keeps its value, which no iteration changes: either way it only waits, but that is
    // not known here.
    let code = [0x85, 0xf6, 0x74, 3, 0x48, 0x89, 0xf8, 0x8b, 0x08, 0x85, 0xc9, 0x74, 0xf3];
    assert_eq!(waiting(&code), NOTHING);
}

#[test]
fn a_store_or_a_call_is_work() {
    // 0: mov [rsi], eax ; 2: mov ecx, [rdi] ; 4: test ecx, ecx ; 6: je 0
    assert_eq!(waiting(&[0x89, 0x06, 0x8b, 0x0f, 0x85, 0xc9, 0x74, 0xf8]), NOTHING);
    // 0: call rax ; 2: mov ecx, [rdi] ; 4: test ecx, ecx ; 6: je 0
    assert_eq!(waiting(&[0xff, 0xd0, 0x8b, 0x0f, 0x85, 0xc9, 0x74, 0xf8]), NOTHING);
}

#[test]
fn a_loop_that_pauses_may_count() {
    // 0: pause ; 2: dec eax ; 4: jne 0
    assert_eq!(waiting(&[0xf3, 0x90, 0xff, 0xc8, 0x75, 0xfa]), [0, 2, 4]);
    // 0: dec eax ; 2: jne 0
    assert_eq!(waiting(&[0xff, 0xc8, 0x75, 0xfc]), NOTHING);
    // Not what it does around another loop: 0: dec eax ; 2: jne 0 ; 4: pause ; 6: jmp 0
    assert_eq!(waiting(&[0xff, 0xc8, 0x75, 0xfc, 0xf3, 0x90, 0xeb, 0xf8]), [4, 6]);
}

#[test]
fn what_is_executed_when_the_loop_is_over_is_no_part_of_it() {
    // 0: mov eax, [rdi] ; 2: test eax, eax ; 4: je 9 ; 6: inc ecx ; 8: ret ; 9: pause ; b: jmp 0
    let code = [0x8b, 0x07, 0x85, 0xc0, 0x74, 3, 0xff, 0xc1, 0xc3, 0xf3, 0x90, 0xeb, 0xf3];
    assert_eq!(waiting(&code), [0, 2, 4, 9, 11]);
}

#[test]
fn who_reads_once_more_whether_it_has_changed_does_not_wait() {
    // 0: mov eax, [rdi] ; 2: mov rdx, [rsi] ; 5: mov ecx, [rdi] ; 7: cmp eax, ecx ; 9: jne 0
    assert_eq!(waiting(&[0x8b, 0x07, 0x48, 0x8b, 0x16, 0x8b, 0x0f, 0x39, 0xc8, 0x75, 0xf5]), NOTHING);
}

#[test]
fn bytes_that_are_no_code_are_none() {
    assert_eq!(waiting(&[]), NOTHING);
    // A branch into the middle of an instruction, and one before the code begins.
    assert_eq!(waiting(&[0x8b, 0x0f, 0x85, 0xc9, 0x74, 0xfb]), NOTHING);
    assert_eq!(waiting(&[0x8b, 0x0f, 0x85, 0xc9, 0x74, 0x80]), NOTHING);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_survived(
        code in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..600), at in 0_u64..700,
        begin in proptest::prelude::any::<u64>(),
    ) {
        let _ = waits(&code, begin, begin.wrapping_add(at), &|_| true);
    }
}
