//! Samples of the whole process: what it has used, and what it occupies.
//!
//! The process takes them itself, since only it is there when it begins, forks, loads another image, pauses
//! and ends, and on every machine that a job uses. Once a second the handler of whichever thread is sampled
//! does it; where no thread runs nothing changes. `getrusage` costs a microsecond. Files below `/proc` cost
//! some ten, and far more where the kernel has to make its nodes first: a process that lives shortly is not
//! asked. The first full sample is therefore not that of its begin, but one soon afterwards.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proust_log::layout::Ending;
use proust_log::records::{PROCESS_SAMPLE_ASKED_PROC, ProcessSample, SampleReason, Subject, SwitchedTo};

use crate::lane::{Record, Usage};
use crate::path::maps::number;
use crate::source::Source;
use crate::{clock, raw};

/// How often.
const PERIOD_NS: u64 = 1_000_000_000;
/// So long after its begin `/proc` is asked about a process.
const SHORT_NS: u64 = 100_000_000;
/// Forks that follow each other closer are one.
const FORKS_NS: u64 = 100_000_000;

static BEGUN_NS: AtomicU64 = AtomicU64::new(0);
static LAST_NS: AtomicU64 = AtomicU64::new(0);
static LAST_FORK_NS: AtomicU64 = AtomicU64::new(0);

/// Samples of the process as a source of data.
pub struct ProcessSamples;

impl Source for ProcessSamples {
    /// The first sample has only what costs little; the first of a period is due as soon as `/proc` may be
    /// asked.
    fn process_begins(&self, record: &mut Record, begin_ns: u64, _is_fork: bool) {
        BEGUN_NS.store(begin_ns, Ordering::Relaxed);
        LAST_NS.store((begin_ns + SHORT_NS).saturating_sub(PERIOD_NS), Ordering::Relaxed);
        LAST_FORK_NS.store(0, Ordering::Relaxed);
        write(record, SampleReason::Begin, 0, false);
    }

    fn sampled(&self, record: &mut Record, time_ns: u64) {
        let last_ns = LAST_NS.load(Ordering::Relaxed);
        if time_ns.saturating_sub(last_ns) >= PERIOD_NS
            && LAST_NS.compare_exchange(last_ns, time_ns, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            take(record, SampleReason::Period);
        }
    }

    fn switched(&self, record: &mut Record, to: SwitchedTo) {
        match to {
            SwitchedTo::Off => take(record, SampleReason::Pause),
            SwitchedTo::On => take(record, SampleReason::Resume),
            SwitchedTo::LaneOff | SwitchedTo::LaneOn => {}
        }
    }

    /// Unless one was taken just now.
    fn forks(&self, record: &mut Record, now_ns: u64) {
        let last_ns = LAST_FORK_NS.swap(now_ns, Ordering::Relaxed);
        if now_ns.saturating_sub(last_ns) >= FORKS_NS {
            write(record, SampleReason::Fork, 0, false);
        }
    }

    fn process_ends(&self, record: &mut Record, ending: Ending) {
        take(record, if ending == Ending::Exec { SampleReason::Exec } else { SampleReason::End });
    }
}

/// Takes one.
fn take(record: &mut Record, reason: SampleReason) {
    let age_ns = clock::now_ns().saturating_sub(BEGUN_NS.load(Ordering::Relaxed));
    let is_old = age_ns >= SHORT_NS || matches!(reason, SampleReason::Pause | SampleReason::Resume);
    write(record, reason, 0, is_old);
}

/// Takes one that was asked for, with a label; `number` is the command's, from 1.
pub fn take_asked(record: &mut Record, label: &[u8], number: u32) {
    if !label.is_empty() {
        record.output.push_text(Subject::SampleLabel, number, label);
    }
    write(record, SampleReason::Asked, if label.is_empty() { 0 } else { number }, true);
}

/// Takes one that the program asks for, with a label of that number.
pub fn take_marked(record: &mut Record, label: &[u8], number: u32) {
    if !label.is_empty() {
        record.output.push_text(Subject::SampleLabel, number, label);
    }
    write(record, SampleReason::Mark, if label.is_empty() { 0 } else { number }, true);
}

/// Takes one that a signal asks for.
pub fn take_signalled(record: &mut Record) {
    write(record, SampleReason::Signal, 0, true);
}

fn write(record: &mut Record, reason: SampleReason, label: u32, asks_proc: bool) {
    let time_ns = clock::now_ns();
    let usage = Usage::of_process();
    let mut sample = ProcessSample {
        time_ns,
        cpu_ns: clock::process_cpu_ns(),
        user_us: usage.user_us,
        system_us: usage.system_us,
        minor_faults: usage.faults.0,
        major_faults: usage.faults.1,
        voluntary_switches: usage.switches.0,
        involuntary_switches: usage.switches.1,
        peak_resident_bytes: usage.peak_resident_kib * 1024,
        label,
        ..ProcessSample::default()
    };
    if asks_proc {
        ask_proc(&mut sample);
    }
    sample.own_ns = u32::try_from(clock::now_ns().saturating_sub(time_ns)).unwrap_or(u32::MAX);
    let asked = if asks_proc { PROCESS_SAMPLE_ASKED_PROC } else { 0 };
    record.output.push(reason as u16, asked, &sample);
}

fn ask_proc(sample: &mut ProcessSample) {
    raw::with_text::<512, _>(c"/proc/self/statm", |text| {
        sample.resident_bytes = words(text).nth(1).unwrap_or(0) * 4096;
    });
    raw::with_text::<512, _>(c"/proc/self/io", |text| {
        for line in text.split(|&byte| byte == b'\n') {
            let Some(at) = line.iter().position(|&byte| byte == b':') else { continue };
            let value = number(line[at + 1..].trim_ascii(), 10).unwrap_or(0);
            match &line[..at] {
                b"rchar" => sample.read_by_calls_bytes = value,
                b"wchar" => sample.written_by_calls_bytes = value,
                b"syscr" => sample.read_calls = value,
                b"syscw" => sample.write_calls = value,
                b"read_bytes" => sample.read_bytes = value,
                b"write_bytes" => sample.written_bytes = value,
                _ => {}
            }
        }
    });
    raw::with_text::<512, _>(c"/proc/loadavg", |text| {
        sample.load_milli = thousandths(text.split(u8::is_ascii_whitespace).next().unwrap_or(&[]));
        // `0.20 0.18 0.12 1/80 11206`: the fourth word is those that run or want to, of all.
        let fourth = text.split(u8::is_ascii_whitespace).nth(3).unwrap_or(&[]);
        let running = fourth.split(|&byte| byte == b'/').next().unwrap_or(&[]);
        sample.runnable = number(running, 10).unwrap_or(0) as u32;
    });
    sample.frequency_khz = FREQUENCY.read(frequency_file(&mut [0; PATH_BYTES], clock::processor()));
    sample.temperature_milli = TEMPERATURE.read(Some(c"/sys/class/thermal/thermal_zone0/temp"));
    if let Some(tasks) = raw::stat(c"/proc/self/task") {
        sample.threads = (tasks.st_nlink as u32).saturating_sub(2);
    }
}

/// A file with one number, which many machines do not have: then it is not tried again.
struct Reading {
    is_missing: AtomicBool,
}

static FREQUENCY: Reading = Reading { is_missing: AtomicBool::new(false) };
static TEMPERATURE: Reading = Reading { is_missing: AtomicBool::new(false) };

impl Reading {
    /// The number; 0 where there is none.
    fn read(&self, file: Option<&CStr>) -> u32 {
        let Some(file) = file.filter(|_| !self.is_missing.load(Ordering::Relaxed)) else { return 0 };
        let read = raw::with_text::<32, _>(file, |text| number(text.trim_ascii(), 10)).flatten();
        self.is_missing.store(read.is_none(), Ordering::Relaxed);
        read.and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
    }
}

const PATH_BYTES: usize = 80;

/// Where the kernel shows the frequency of a processor, where it can.
fn frequency_file(path: &mut [u8; PATH_BYTES], processor: u32) -> Option<&CStr> {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut rest = processor;
    loop {
        at -= 1;
        *digits.get_mut(at)? = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let parts = [b"/sys/devices/system/cpu/cpu", digits.get(at..)?, b"/cpufreq/scaling_cur_freq\0"];
    let mut length = 0;
    for part in parts {
        path.get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
    }
    CStr::from_bytes_with_nul(path.get(..length)?).ok()
}

/// A number with decimals, such as `0.25`, in thousandths.
fn thousandths(text: &[u8]) -> u32 {
    let mut parts = text.split(|&byte| byte == b'.');
    let whole = parts.next().and_then(|digits| number(digits, 10)).unwrap_or(0);
    let decimals = parts.next().unwrap_or(&[]);
    let scale = [1000, 100, 10, 1].get(decimals.len()).copied().unwrap_or(0);
    let part = if decimals.is_empty() { 0 } else { number(decimals, 10).unwrap_or(0) * scale };
    u32::try_from(whole * 1000 + part).unwrap_or(u32::MAX)
}

fn words(text: &[u8]) -> impl Iterator<Item = u64> + '_ {
    text.split(u8::is_ascii_whitespace).map(|word| number(word, 10).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_read_in_thousandths() {
        for (text, milli) in
            [("0.25", 250), ("12.5", 12_500), ("3", 3000), ("0.07", 70), ("", 0), ("x", 0), ("1.234", 1234)]
        {
            assert_eq!(thousandths(text.as_bytes()), milli, "{text}");
        }
    }

    #[test]
    fn each_processor_has_its_file() {
        for (processor, part) in [(0, "/cpu0/"), (17, "/cpu17/"), (u32::MAX, "/cpu4294967295/")] {
            let mut path = [0; PATH_BYTES];
            let file = frequency_file(&mut path, processor).and_then(|file| file.to_str().ok());
            assert!(file.is_some_and(|file| file.contains(part) && file.ends_with("_freq")), "{file:?}");
        }
    }
}
