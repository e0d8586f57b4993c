//! Any records with right checks, which the fuzzer could hardly find by itself.
//!
//! The input is the file's header, one lane's header, and records of which the checks are put right. They
//! fill chunks of growing size, as a lane's records do.

#![no_main]

use proust_log::layout::{
    ChunkHeader, ENDIAN_MARK, FileHeader, HEADER_BYTES, LaneHeader, MAGIC, MAX_CHUNK_BYTES, VERSION,
    chunk_bytes,
};
use proust_log::records::{CHECK_MASK, check_of};
use zerocopy::{FromBytes, IntoBytes};

/// Adds the lane's chunk number `sequence` with `content` behind its header.
fn add_chunk(file: &mut Vec<u8>, sequence: u32, content: &[u8]) {
    let (begin, bytes) = (file.len(), chunk_bytes(sequence));
    let used = size_of::<ChunkHeader>() + content.len();
    file.extend_from_slice(ChunkHeader::new(0, sequence, bytes as u32, used as u32).as_bytes());
    file.extend_from_slice(content);
    file.resize(begin + bytes, 0);
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok((mut header, input)) = FileHeader::read_from_prefix(input) else { return };
    let Ok((lane, mut input)) = LaneHeader::read_from_prefix(input) else { return };
    header.magic = MAGIC;
    header.version = VERSION;
    header.endian_mark = ENDIAN_MARK;
    header.header_bytes = HEADER_BYTES as u32;
    header.chunk_bytes = MAX_CHUNK_BYTES as u32;
    header.check = header.check_of_facts();
    let mut file = header.as_bytes().to_vec();
    file.resize(HEADER_BYTES, 0);
    let mut sequence = 0;
    let mut content = lane.as_bytes().to_vec();
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
        if size_of::<ChunkHeader>() + content.len() + length > chunk_bytes(sequence) {
            add_chunk(&mut file, sequence, &content);
            content.clear();
            sequence += 1;
        }
        content.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    add_chunk(&mut file, sequence, &content);
    proust_fuzz::check(&file);
});
