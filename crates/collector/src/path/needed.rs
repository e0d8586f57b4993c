//! Which of the images that are loaded at the start stay loaded: those that other images which stay need.
//!
//! Another library's constructor may have opened more by then, and may close it. So the program, the
//! collector, the dynamic linker and the kernel's own image stay, and whatever one of them needs, as far as
//! that leads.

use core::ffi::CStr;
use core::ops::Range;

use crate::path::elf::{PT_DYNAMIC, ProgramHeader};
use crate::raw;

const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const DT_SONAME: u64 = 14;

/// An image's name and dependencies.
pub struct Image {
    /// Its addresses.
    pub range: Range<u64>,
    /// The path by which it was found; empty for the program.
    path: &'static [u8],
    /// The name by which others need it.
    name: &'static [u8],
    needs: Vec<&'static [u8]>,
}

impl Image {
    /// The data in the dynamic section of an image at `range`.
    ///
    /// # Safety
    /// The image is loaded, by the dynamic linker, and stays so as long as the result is used.
    pub unsafe fn of(range: Range<u64>, bias: u64, headers: &[ProgramHeader], path: &'static CStr) -> Image {
        let mut image = Image { range, path: path.to_bytes(), name: b"", needs: Vec::new() };
        let Some(header) = headers.iter().find(|header| header.kind == PT_DYNAMIC) else { return image };
        let count = (header.memory_bytes / 16) as usize;
        // SAFETY: the dynamic section of a loaded image is mapped.
        let section = unsafe {
            core::slice::from_raw_parts(bias.wrapping_add(header.address) as *const [u64; 2], count)
        };
        let entries = || section.iter().take_while(|[tag, _]| *tag != 0);
        let value_of = |wanted: u64| entries().find(|[tag, _]| *tag == wanted).map(|[_, value]| *value);
        let (Some(strings), Some(bytes)) = (value_of(DT_STRTAB), value_of(DT_STRSZ)) else { return image };
        // The dynamic linker has added the bias where the section can be written.
        let strings = if strings < image.range.start { bias.wrapping_add(strings) } else { strings };
        if !image.range.contains(&strings) {
            return image;
        }
        // SAFETY: an offset below the table's size is that of a string that ends in the table.
        let text = |at: u64| if at < bytes { unsafe { raw::text((strings + at) as *const _) } } else { b"" };
        for &[tag, value] in entries() {
            match tag {
                DT_NEEDED => image.needs.push(text(value)),
                DT_SONAME => image.name = text(value),
                _ => {}
            }
        }
        image
    }

    fn is_called(&self, wanted: &[u8]) -> bool {
        let base = self.path.rsplit(|&byte| byte == b'/').next().unwrap_or(b"");
        self.name == wanted || base == wanted || self.path == wanted
    }

    /// Whether it is the kernel's, which no file contains.
    fn is_of_kernel(&self) -> bool {
        self.path.starts_with(b"linux-vdso") || self.path.starts_with(b"linux-gate")
    }
}

/// Of each image, whether it stays loaded. The first one is the program; `is_own` knows the collector. Images
/// are in the order of loading, so that of two with one name it is the one that was needed at the start.
pub fn by(images: &[Image], is_own: impl Fn(&Image) -> bool) -> Vec<bool> {
    let mut stays: Vec<bool> = images
        .iter()
        .enumerate()
        .map(|(at, image)| at == 0 || image.is_of_kernel() || is_own(image))
        .collect();
    let mut open: Vec<usize> = (0..images.len()).filter(|&at| stays[at]).collect();
    while let Some(at) = open.pop() {
        for wanted in &images[at].needs {
            let found = images.iter().position(|image| image.is_called(wanted));
            if let Some(found) = found.filter(|&found| !stays[found]) {
                stays[found] = true;
                open.push(found);
            }
        }
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(path: &'static [u8], name: &'static [u8], needs: &[&'static [u8]]) -> Image {
        Image { range: 0..0, path, name, needs: needs.to_vec() }
    }

    #[test]
    fn an_image_that_no_other_needs_may_be_closed() {
        let images = [
            image(b"", b"", &[b"liba.so.1", b"libc.so.6"]),
            image(b"linux-vdso.so.1", b"linux-vdso.so.1", &[]),
            image(b"/run/collector.so", b"", &[b"libc.so.6"]),
            image(b"/lib/preload.so", b"", &[b"libp.so"]),
            image(b"/lib/liba-1.2.so", b"liba.so.1", &[b"libb.so"]),
            image(b"/lib/libp.so", b"libp.so", &[]),
            image(b"/lib/libc.so.6", b"libc.so.6", &[b"ld-linux-x86-64.so.2"]),
            image(b"/lib/libb.so", b"", &[]),
            image(b"/lib64/ld-linux-x86-64.so.2", b"ld-linux-x86-64.so.2", &[]),
            image(b"/other/libb.so", b"libb.so", &[]),
        ];
        let stays = by(&images, |image| image.path == b"/run/collector.so");
        let expected = [true, true, true, false, true, false, true, true, true, false];
        assert_eq!(stays, expected);
    }

    #[test]
    fn this_process_needs_its_c_library() {
        unsafe extern "C" fn visit(
            info: *mut libc::dl_phdr_info,
            _: usize,
            data: *mut core::ffi::c_void,
        ) -> i32 {
            // SAFETY: as the dynamic linker promises; `data` is the vector below.
            unsafe {
                let (info, images) = (&*info, &mut *data.cast::<Vec<Image>>());
                let headers = core::slice::from_raw_parts(
                    info.dlpi_phdr.cast::<ProgramHeader>(),
                    info.dlpi_phnum.into(),
                );
                let range = crate::path::elf::ImageLayout::of(headers).range;
                let range = info.dlpi_addr + range.0..info.dlpi_addr + range.1;
                images.push(Image::of(range, info.dlpi_addr, headers, CStr::from_ptr(info.dlpi_name)));
            }
            0
        }
        let mut images: Vec<Image> = Vec::new();
        // SAFETY: the callback matches its data.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut images).cast()) };
        let stays = by(&images, |_| false);
        let libc = images.iter().position(|image| image.is_called(b"libc.so.6")).unwrap();
        assert!(stays[libc] && images[0].needs.iter().any(|needed| *needed == b"libc.so.6"));
    }
}
