//! What a process has used, for examples that measure themselves.

use std::fs;

/// A line of `/proc/self/status`, MB.
pub fn memory_mb(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// The time of all threads on processors, s.
pub fn processor_s() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
    ticks / 100.0
}
