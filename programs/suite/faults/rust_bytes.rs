//! A program that counts lines and words, byte by byte from a file without a buffer.

use std::fs::File;
use std::io::Read;

#[inline(never)]
fn count(file: File) -> (u64, u64) {
    let (mut lines, mut words, mut is_inside) = (0, 0, false);
    for byte in file.bytes() { // FAULT: a system call for each byte
        let byte = byte.unwrap();
        lines += u64::from(byte == b'\n');
        let is_letter = !byte.is_ascii_whitespace();
        words += u64::from(is_letter && !is_inside);
        is_inside = is_letter;
    }
    (lines, words)
}

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    println!("{:?}", count(File::open(path).unwrap()));
}
