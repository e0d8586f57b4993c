//! Any records with right checks, which the fuzzer could hardly find by itself.
//!
//! The input is the file's header, one lane's header, and records of which the checks are put right.

#![no_main]

use proust_log::layout::{
    CHUNK_BYTES, CHUNK_MAGIC, ChunkHeader, ENDIAN_MARK, FileHeader, HEADER_BYTES, LaneHeader, MAGIC, VERSION,
};
use proust_log::records::{CHECK_MASK, check_of};
use zerocopy::{FromBytes, IntoBytes};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok((mut header, input)) = FileHeader::read_from_prefix(input) else { return };
    let Ok((lane, mut input)) = LaneHeader::read_from_prefix(input) else { return };
    header.magic = MAGIC;
    header.version = VERSION;
    header.endian_mark = ENDIAN_MARK;
    header.header_bytes = HEADER_BYTES as u32;
    header.chunk_bytes = CHUNK_BYTES as u32;
    header.check = header.check_of_facts();
    let mut file = header.as_bytes().to_vec();
    file.resize(HEADER_BYTES, 0);
    let chunk = ChunkHeader { magic: CHUNK_MAGIC, lane: 0, sequence: 0, used: 0 };
    file.extend_from_slice(chunk.as_bytes());
    file.extend_from_slice(lane.as_bytes());
    while let [_, words, ..] = *input {
        let length = usize::from(words) * 8;
        if length < 8 || length > input.len() {
            break;
        }
        let (record, rest) = input.split_at(length);
        input = rest;
        let mut words: Vec<u64> =
            record.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        words[0] &= !CHECK_MASK;
        words[0] |= u64::from(check_of(words.iter().copied())) << 16;
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    file.truncate(HEADER_BYTES + CHUNK_BYTES);
    proust_fuzz::check(&file);
});
