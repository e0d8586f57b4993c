//! The vDSO: code that the kernel maps into every process and that is no file.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use crate::image::Image;

/// The vDSO of this process, read through `/proc` so that no memory is touched that might not be there.
pub(crate) fn of_this_process() -> Option<Image> {
    const LARGEST_BYTES: u64 = 1 << 20;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let length = end.checked_sub(start).filter(|&length| length <= LARGEST_BYTES)?;
    let mut bytes = vec![0; length as usize];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
    Some(Image::from_bytes(bytes))
}
