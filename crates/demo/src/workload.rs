//! Three threads with unequal work, and a serial part at each end.

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Rounds are repeated until this much of the clock has passed, so that the demonstration takes as long on
/// any machine.
const SERIAL: Duration = Duration::from_millis(300);
const PARSE: Duration = Duration::from_millis(700);
const COMPRESS: Duration = Duration::from_millis(1200);
const SORT: Duration = Duration::from_millis(1800);

/// Does the work, and answers a checksum of it.
///
/// # Errors
/// When a thread cannot be started.
pub fn workload() -> io::Result<u64> {
    let text = generate_text();
    thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        named("parser").spawn_scoped(scope, || repeat(PARSE, || parse_numbers(&text).len() as u64))?;
        named("compressor")
            .spawn_scoped(scope, || repeat(COMPRESS, || compress(text.as_bytes()).len() as u64))?;
        named("sorter").spawn_scoped(scope, || repeat(SORT, || sort_words(&text).len() as u64))?;
        io::Result::Ok(())
    })?;
    Ok(repeat(SERIAL, || checksum(text.as_bytes())))
}

fn repeat(time: Duration, mut work: impl FnMut() -> u64) -> u64 {
    let start = Instant::now();
    let mut result = 0u64;
    while start.elapsed() < time {
        result = result.wrapping_add(black_box(work()));
    }
    result
}

#[inline(never)]
fn generate_text() -> String {
    let mut state = 42u64;
    let mut text = String::new();
    let start = Instant::now();
    while start.elapsed() < SERIAL {
        text.clear();
        for _ in 0..20_000 {
            state = next_random(state);
            text.push_str(&(state >> 44).to_string());
            text.push(' ');
        }
    }
    text
}

fn next_random(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

#[inline(never)]
fn parse_numbers(text: &str) -> Vec<u64> {
    text.split_ascii_whitespace().filter_map(parse_number).collect()
}

#[inline(never)]
fn parse_number(word: &str) -> Option<u64> {
    let mut number = 0u64;
    for digit in word.bytes() {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

#[inline(never)]
fn sort_words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
    merge_sort(&mut words);
    words
}

/// Recursive, so that the report has a recursion to show.
#[inline(never)]
fn merge_sort(words: &mut [&str]) {
    if words.len() <= 16 {
        insertion_sort(words);
        return;
    }
    let middle = words.len() / 2;
    merge_sort(&mut words[..middle]);
    merge_sort(&mut words[middle..]);
    merge(words, middle);
}

#[inline(never)]
fn insertion_sort(words: &mut [&str]) {
    for n in 1..words.len() {
        let mut at = n;
        while at > 0 && words[at - 1] > words[at] {
            words.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[inline(never)]
fn merge(words: &mut [&str], middle: usize) {
    let left = words[..middle].to_vec();
    let (mut from_left, mut from_right) = (0, middle);
    for at in 0..words.len() {
        if from_left < left.len() && (from_right == words.len() || left[from_left] <= words[from_right]) {
            words[at] = left[from_left];
            from_left += 1;
        } else if from_right < words.len() {
            words[at] = words[from_right];
            from_right += 1;
        }
    }
}

/// Replaces repetitions by their distance and length.
#[inline(never)]
fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut last_seen = vec![0u32; 1 << 14];
    let mut at = 0;
    while at + 4 <= bytes.len() {
        let slot = hash(&bytes[at..at + 4]);
        let before = last_seen[slot] as usize;
        last_seen[slot] = at as u32;
        let length = if before < at { common_length(bytes, before, at) } else { 0 };
        if length >= 4 {
            out.extend([0xff, (at - before) as u8, length as u8]);
            at += length;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

fn hash(bytes: &[u8]) -> usize {
    let number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    (number.wrapping_mul(2_654_435_761) >> 18) as usize
}

#[inline(never)]
fn common_length(bytes: &[u8], before: usize, at: usize) -> usize {
    let pairs = bytes[at..].iter().zip(&bytes[before..]).take(255);
    pairs.take_while(|(now, then)| now == then).count()
}

#[inline(never)]
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(14_695_981_039_346_656_037, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_real() {
        assert_eq!(sort_words("3 1 22 2 1"), ["1", "1", "2", "22", "3"]);
        let many: String = (0..500).map(|n| format!("{} ", (n * 7919) % 1000)).collect();
        let sorted = sort_words(&many);
        assert!(sorted.is_sorted() && sorted.len() == 500);
        assert_eq!(parse_numbers("12 x 7"), [12, 7]);
        assert!(compress(&b"abcdabcdabcdabcd".repeat(10)).len() < 30);
    }
}
