//! Any bytes as a log file.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| proust_fuzz::check(bytes));
