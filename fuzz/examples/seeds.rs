//! Inputs for the fuzz targets from runs that were recorded and analysed: `seeds CORPUS RUN...` writes into a
//! folder of CORPUS for each target. Where there are none a fuzzer spends its time on finding what a header
//! looks like.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use proust_log::code::Code;
use proust_log::layout::{ChunkHeader, FileHeader, LaneHeader};
use proust_log::records::Subject;
use proust_log::{Log, Record};
use zerocopy::{FromBytes, IntoBytes};

/// The fuzzer tries nothing that is longer.
const MAX_BYTES: usize = 16_384;

fn main() -> io::Result<()> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let corpus = arguments.next().ok_or_else(|| io::Error::other("usage: seeds CORPUS RUN..."))?;
    let mut seeds = Seeds { corpus, written: 0 };
    for run in arguments {
        for file in files_in(&run)? {
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("plog") => seeds.of_log(&fs::read(file)?)?,
                Some("streams") => seeds.add("stream_file", &fs::read(file)?)?,
                _ => {}
            }
        }
    }
    println!("{} inputs", seeds.written);
    Ok(())
}

/// All files below a folder.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_in(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

struct Seeds {
    corpus: PathBuf,
    written: usize,
}

impl Seeds {
    /// Long inputs are left out: what a fuzzer cuts off their ends are other inputs.
    fn add(&mut self, target: &str, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > MAX_BYTES {
            return Ok(());
        }
        let folder = self.corpus.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed-{:06}", self.written)), bytes)?;
        self.written += 1;
        Ok(())
    }

    fn of_log(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.add("log_file", bytes)?;
        let log = Log::parse(bytes).map_err(io::Error::other)?;
        let mut codes: BTreeMap<(u32, u32), Vec<u8>> = BTreeMap::new();
        for lane in &log.lanes {
            for record in lane.records() {
                if let Record::Text { subject, id, text, .. } = record
                    && subject == Subject::Code as u16
                {
                    codes.entry((lane.number, id)).or_default().extend_from_slice(text);
                }
            }
        }
        for code in codes.into_values() {
            self.add("code_object", &code)?;
            if let Some(code) = Code::parse(&code) {
                self.add("code_object", code.lines)?;
            }
        }
        for input in inputs_of_records(&log.header, bytes) {
            self.add("log_records", &input)?;
        }
        Ok(())
    }
}

/// What the target `log_records` reads, of each lane: headers, and records as many as fit.
fn inputs_of_records(header: &FileHeader, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut lanes: Vec<(u32, Vec<u8>)> = Vec::new();
    let mut rest = bytes.get(proust_log::layout::HEADER_BYTES..).unwrap_or(&[]);
    while let Some(chunk) = ChunkHeader::begins(rest) {
        let length = (chunk.bytes as usize).min(rest.len());
        let used = (chunk.used as usize).min(length);
        let mut content = rest.get(size_of::<ChunkHeader>()..used).unwrap_or(&[]);
        rest = &rest[length..];
        if chunk.is_of_children() {
            continue;
        }
        if chunk.sequence == 0 {
            let Ok((lane, records)) = LaneHeader::read_from_prefix(content) else { continue };
            lanes.push((chunk.lane, [header.as_bytes(), lane.as_bytes()].concat()));
            content = records;
        }
        let Some((_, input)) = lanes.iter_mut().find(|(lane, _)| *lane == chunk.lane) else { continue };
        while let [_, words, ..] = *content {
            let length = usize::from(words) * 8;
            if length == 0 || length > content.len() || input.len() + length > MAX_BYTES {
                break;
            }
            let (record, behind) = content.split_at(length);
            input.extend_from_slice(record);
            content = behind;
        }
    }
    lanes.into_iter().map(|(_, input)| input).collect()
}
