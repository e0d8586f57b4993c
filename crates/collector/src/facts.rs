//! The facts that a log has of its process beside its measurements: host, program, arguments, folder, clock.
//!
//! A forked child has most of it from its parent. Files below `/proc` are read once for an image: the kernel
//! makes nodes there for each process that asks, which takes as long as the rest of a child's begin.

use core::ffi::{CStr, c_char};

use proust_log::records::Subject;

use crate::lane::{self, Output, binding};
use crate::life::Strings;
use crate::path::modules;
use crate::{arena, hooks, life, logfile, process, raw, time_namespace};

/// Most bytes of arguments that are kept.
const ARGUMENT_BYTES: usize = 16 * 1024;
/// So many are kept without memory of their own.
const FEW_BYTES: usize = 1024;

/// Facts that do not change while an image runs.
pub struct Facts {
    executable: &'static [u8],
    /// The link by which it was started, if that has another name.
    link: &'static [u8],
    /// Where the arguments lie, one after the other, with a zero behind each. The program may change them.
    arguments: (u64, usize),
    /// How far CLOCK_MONOTONIC is ahead of the machine's.
    clock_offset_ns: i64,
}

impl Facts {
    /// Of the image that just begins with these arguments.
    pub fn of_this_image(arguments: Strings) -> Facts {
        let mut path = [0; 4096];
        let length = usize::try_from(raw::readlink(c"/proc/self/exe", &mut path)).unwrap_or(0);
        let start = arguments.first();
        let end = arguments.map(|text| text.as_ptr() as u64 + text.len() as u64 + 1).fold(start, u64::max);
        let executable: &'static [u8] = Vec::leak(path.get(..length).unwrap_or(&[]).to_vec());
        Facts {
            executable,
            link: link_to(executable),
            arguments: (start, end.saturating_sub(start) as usize),
            clock_offset_ns: time_namespace::monotonic_offset_ns(),
        }
    }

    /// How far CLOCK_MONOTONIC is ahead of the machine's.
    pub fn clock_offset_ns(&self) -> i64 {
        self.clock_offset_ns
    }

    /// Asks again for the clock's offset in a child that began at `begin_ns`, if its clock may be another one
    /// than its parent's.
    pub fn follow_clock(&mut self, begin_ns: u64) {
        if process::may_have_other_clock(begin_ns) {
            self.clock_offset_ns = time_namespace::monotonic_offset_ns();
        }
    }

    /// Writes all of it, and those variables of the environment that concern parallelism.
    pub fn write(&self, output: &mut Output, environment: Option<Strings>) {
        for module in modules::all() {
            lane::write_module(output, module);
        }
        let mut host = [0; 65];
        let length = raw::host_name(&mut host);
        output.push_text(Subject::Host, 0, &host[..length]);
        output.push_text(Subject::Executable, 0, self.executable);
        if !self.link.is_empty() {
            output.push_text(Subject::StartedAs, 0, self.link);
        }
        let mut path = [0; 4096];
        let length = usize::try_from(raw::getcwd(&mut path)).unwrap_or(1);
        output.push_text(Subject::WorkingFolder, 0, &path[..length.saturating_sub(1)]);
        if self.clock_offset_ns != 0 {
            let mut digits = [0; 20];
            let sign: &[u8] = if self.clock_offset_ns < 0 { b"-" } else { b"" };
            let mut text = sign.to_vec();
            text.extend_from_slice(logfile::digits(self.clock_offset_ns.unsigned_abs(), &mut digits));
            output.push_text(Subject::MonotonicOffset, 0, &text);
        }
        write_processors(output);
        self.write_arguments(output);
        if let Some(environment) = environment {
            for entry in environment.filter(|entry| hooks::environment::concerns_parallelism(entry)) {
                output.push_text(Subject::Variable, 0, entry);
            }
        }
    }

    fn write_arguments(&self, output: &mut Output) {
        let (start, bytes) = self.arguments;
        let bytes = bytes.min(ARGUMENT_BYTES);
        let mut few = [0; FEW_BYTES];
        if let Some(buffer) = few.get_mut(..bytes) {
            write_arguments_at(start, buffer, output);
            return;
        }
        let memory = arena::pages(ARGUMENT_BYTES);
        if memory.is_null() {
            return;
        }
        // SAFETY: mapped just now with this size, and given back when nothing uses it any more.
        unsafe {
            write_arguments_at(start, core::slice::from_raw_parts_mut(memory, bytes), output);
            arena::give_back(memory, ARGUMENT_BYTES);
        }
    }
}

/// The path that exec was given, if it is a link of another name to the executable: it distinguishes programs
/// of several names. A script's is no link, its interpreter is the executable.
fn link_to(executable: &[u8]) -> &'static [u8] {
    // SAFETY: getauxval only reads the auxiliary vector.
    let given = unsafe { libc::getauxval(libc::AT_EXECFN) } as *const c_char;
    if given.is_null() {
        return &[];
    }
    // SAFETY: the kernel puts the path there, above the stack, for the image's life; programs do not change
    // it.
    let given: &'static CStr = unsafe { CStr::from_ptr(given) };
    let name = |path: &[u8]| path.rsplit(|&byte| byte == b'/').next().map(<[u8]>::to_vec);
    if name(given.to_bytes()) == name(executable) {
        return &[];
    }
    let file = |path: &CStr| raw::stat(path).map(|status| (status.st_dev, status.st_ino));
    let is_link = file(given).is_some_and(|file_of| Some(file_of) == file(c"/proc/self/exe"));
    if is_link { given.to_bytes() } else { &[] }
}

/// Which processors this process may use, and how much of them. A child may have been bound before its exec:
/// asked each time.
fn write_processors(output: &mut Output) {
    let mut text = [0; RANGES_BYTES];
    let mut mask = [0; raw::MASK_WORDS];
    raw::affinity_of(0, &mut mask);
    binding::begin_with(&mask);
    output.push_text(Subject::Processors, 0, ranges(&mask, &mut text).0);
    let quota_milli = life::recording().map_or(0, |life| life.options.quota_milli);
    if quota_milli > 0 {
        let mut digits = [0; 20];
        output.push_text(Subject::ProcessorQuota, 0, logfile::digits(quota_milli.into(), &mut digits));
    }
}

/// Room for the ranges of a set of processors; ranges that do not fit are left out at the end.
const RANGES_BYTES: usize = 512;

/// A set of processors as ranges: `0-3,8`; and whether all of them found room.
pub(crate) fn ranges<'t>(mask: &[u64], text: &'t mut [u8]) -> (&'t [u8], bool) {
    let has = |number: usize| mask.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
    let (mut length, mut number) = (0, 0);
    while number < mask.len() * 64 {
        if !has(number) {
            number += 1;
            continue;
        }
        let first = number;
        while has(number) {
            number += 1;
        }
        let mut range = Vec::with_capacity(32);
        let mut digits = [0; 20];
        if length > 0 {
            range.push(b',');
        }
        range.extend_from_slice(logfile::digits(first as u64, &mut digits));
        if number - first > 1 {
            range.push(b'-');
            range.extend_from_slice(logfile::digits(number as u64 - 1, &mut digits));
        }
        let Some(room) = text.get_mut(length..length + range.len()) else {
            return (&text[..length], false);
        };
        room.copy_from_slice(&range);
        length += range.len();
    }
    (&text[..length], true)
}

/// Reads the arguments as another process would: where a program has moved them away, nothing is there.
fn write_arguments_at(start: u64, buffer: &mut [u8], output: &mut Output) {
    let got = raw::read_memory(raw::getpid(), start, buffer);
    let text = buffer.get(..usize::try_from(got).unwrap_or(0)).unwrap_or(&[]);
    let text = text.strip_suffix(&[0]).unwrap_or(text);
    for (number, argument) in text.split(|&byte| byte == 0).enumerate() {
        output.push_text(Subject::Argument, number as u32, argument);
    }
}

impl Strings {
    /// Address of the first string; 0 = there is none.
    fn first(&self) -> u64 {
        { *self }.next().map_or(0, |text| text.as_ptr().cast::<c_char>() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{RANGES_BYTES, ranges};

    #[test]
    fn sets_of_processors_are_written_as_ranges() {
        let of = |mask: &[u64]| {
            let mut text = [0; RANGES_BYTES];
            String::from_utf8(ranges(mask, &mut text).0.to_vec()).unwrap()
        };
        assert_eq!(of(&[0b1_0000_1111, 0]), "0-3,8");
        assert_eq!(of(&[1 << 63, 1]), "63-64");
        assert_eq!(of(&[0, u64::MAX]), "64-127");
        assert_eq!(of(&[0, 0]), "");
        // Every second one of many: those that fit are there, and nothing else.
        let many = of(&[0x5555_5555_5555_5555; 128]);
        assert!(many.starts_with("0,2,4,") && many.len() <= RANGES_BYTES && !many.ends_with(','));
    }
}
