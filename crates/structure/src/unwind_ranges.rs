//! Function bounds from unwind tables: they remain when symbols are stripped.

use std::cell::OnceCell;
use std::ops::Range;

use addr2line::gimli::{
    BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, FrameDescriptionEntry, ParsedEhFrameHdr, UnwindSection,
};
use object::{Object, ObjectSection};

use crate::image::{Elf, Keep, Slice, byte_order, section};
use crate::survive::survive;

/// The functions that `.eh_frame` describes.
pub(crate) struct UnwindRanges<'a> {
    frames: EhFrame<Slice<'a>>,
    search_table: Option<ParsedEhFrameHdr<Slice<'a>>>,
    bases: BaseAddresses,
    /// Everything in `frames`, sorted; read only where there is no search table.
    scanned: OnceCell<Vec<Range<u64>>>,
}

impl<'a> UnwindRanges<'a> {
    /// `None` when the module has no unwind table.
    pub(crate) fn read(module: &Elf<'a>, keep: &'a Keep) -> Option<Self> {
        let address_of = |name| module.section_by_name(name).map(|section| section.address());
        let frames = section(module, ".eh_frame", keep).ok().filter(|bytes| !bytes.is_empty())?;
        let mut bases = BaseAddresses::default();
        bases = bases.set_eh_frame(address_of(".eh_frame").unwrap_or(0));
        bases = bases.set_eh_frame_hdr(address_of(".eh_frame_hdr").unwrap_or(0));
        bases = bases.set_text(address_of(".text").unwrap_or(0));
        bases = bases.set_got(address_of(".got").unwrap_or(0));
        let header = section(module, ".eh_frame_hdr", keep).ok().filter(|bytes| !bytes.is_empty());
        const ADDRESS_BYTES: u8 = 8;
        let search_table = header
            .and_then(|bytes| {
                EhFrameHdr::new(bytes.slice(), byte_order(module)).parse(&bases, ADDRESS_BYTES).ok()
            })
            .filter(|parsed| parsed.table().is_some());
        Some(Self { frames: EhFrame::from(frames), search_table, bases, scanned: OnceCell::new() })
    }

    /// The addresses of the function around `address`.
    pub(crate) fn around(&self, address: u64) -> Option<Range<u64>> {
        survive(|| self.search(address)).flatten()
    }

    fn search(&self, address: u64) -> Option<Range<u64>> {
        let found = match self.search_table.as_ref().and_then(ParsedEhFrameHdr::table) {
            Some(table) => {
                let cie = EhFrame::cie_from_offset;
                range(&table.fde_for_address(&self.frames, &self.bases, address, cie).ok()?)
            }
            None => {
                let scanned = self.scanned.get_or_init(|| self.scan());
                scanned[..scanned.partition_point(|range| range.start <= address)].last()?.clone()
            }
        };
        found.contains(&address).then_some(found)
    }

    fn scan(&self) -> Vec<Range<u64>> {
        let mut ranges = Vec::new();
        let mut entries = self.frames.entries(&self.bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            if let Ok(fde) = partial.parse(EhFrame::cie_from_offset) {
                ranges.push(range(&fde));
            }
        }
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        ranges
    }
}

fn range(fde: &FrameDescriptionEntry<Slice<'_>>) -> Range<u64> {
    fde.initial_address()..fde.initial_address().saturating_add(fde.len())
}
