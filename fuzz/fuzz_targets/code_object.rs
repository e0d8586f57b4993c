//! Any bytes as the text of a code object of an interpreter's, and as its table of lines.

#![no_main]

use proust_log::code::Code;
use proust_structure::InterpretedCode;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check(13, 1, bytes);
    if let Some(code) = Code::parse(bytes) {
        check(code.minor_version, code.first_line, code.lines);
    }
});

fn check(minor_version: u16, first_line: u32, table: &[u8]) {
    let read = |table| InterpretedCode::new(minor_version, String::new(), String::new(), first_line, table);
    let code = read(table);
    for byte in (0..64).chain([u32::MAX]) {
        let _ = code.line(byte);
    }
    // What stands at a table's begin does not depend on its end, but for the last of its entries.
    if let [first, _, _, _, ..] = table
        && minor_version == 10
        && *first > 0
    {
        assert_eq!(read(&table[..2]).line(0), code.line(0));
    }
}
