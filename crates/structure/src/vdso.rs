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

#[cfg(test)]
mod tests {
    use object::{Object, ObjectSymbol};

    use crate::image::build_id;
    use crate::{ModuleRequest, Structurer};

    #[test]
    fn the_measured_vdso_has_its_symbols() {
        let Some(image) = super::of_this_process() else {
            eprintln!("SKIP: no vDSO in this process");
            return;
        };
        let elf = image.elf().expect("the kernel's own ELF file");
        let id = build_id(&elf).expect("a build-id").to_vec();
        let clock =
            elf.dynamic_symbols().find(|s| s.name().is_ok_and(|name| name.ends_with("clock_gettime")));
        let clock = clock.expect("the reason why there is a vDSO").address();
        let request = ModuleRequest { path: "[vdso]".into(), build_id: Some(id), code_id: None };
        let structure = Structurer::new(None).resolve(&request, &[clock + 1]);
        assert!(structure.functions[0].name.ends_with("clock_gettime"), "{:?}", structure.functions);
    }
}
