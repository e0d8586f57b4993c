//! Sorted runs in temporary files.
//!
//! ```text
//! run   = chunk, chunk, …
//! chunk = u32 CRC-32 of the rows, u32 their length, rows
//! ```

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::Located;
use super::row::{Before, get, put};
use crate::record::Record;
use crate::varint::Bytes;

/// A chunk is written when it has this many bytes.
pub(super) const CHUNK_BYTES: usize = 1 << 15;

pub(super) struct RunWriter {
    to: BufWriter<File>,
    rows: Vec<u8>,
    before: Before,
}

impl RunWriter {
    pub fn create(path: &Path) -> io::Result<RunWriter> {
        let to = BufWriter::with_capacity(1 << 17, File::create_new(path)?);
        Ok(RunWriter { to, rows: Vec::with_capacity(CHUNK_BYTES + 512), before: Before::default() })
    }

    pub fn push<R: Record>(&mut self, located: &Located<R>) -> io::Result<()> {
        put(&mut self.rows, located, &mut self.before);
        if self.rows.len() >= CHUNK_BYTES { self.close_chunk() } else { Ok(()) }
    }

    fn close_chunk(&mut self) -> io::Result<()> {
        self.to.write_all(&crc32fast::hash(&self.rows).to_le_bytes())?;
        self.to.write_all(&(self.rows.len() as u32).to_le_bytes())?;
        self.to.write_all(&self.rows)?;
        self.rows.clear();
        self.before = Before::default();
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.close_chunk()?;
        }
        self.to.flush()
    }
}

pub(super) struct RunReader {
    from: BufReader<File>,
    rows: Vec<u8>,
    read: usize,
    before: Before,
}

impl RunReader {
    pub fn open(path: &Path) -> io::Result<RunReader> {
        // A chunk is read at once: no buffer is needed in between.
        let from = BufReader::with_capacity(64, File::open(path)?);
        Ok(RunReader { from, rows: Vec::new(), read: 0, before: Before::default() })
    }

    pub fn next<R: Record>(&mut self) -> io::Result<Option<Located<R>>> {
        if self.read == self.rows.len() && !self.read_chunk()? {
            return Ok(None);
        }
        let mut bytes = Bytes(&self.rows[self.read..]);
        let located = get(&mut bytes, &mut self.before).ok_or(io::ErrorKind::InvalidData)?;
        self.read = self.rows.len() - bytes.0.len();
        Ok(Some(located))
    }

    fn read_chunk(&mut self) -> io::Result<bool> {
        let mut header = [0; 8];
        match self.from.read_exact(&mut header) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
        let [a, b, c, d, e, f, g, h] = header;
        let (crc, length) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        if length as usize > 2 * CHUNK_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.rows.resize(length as usize, 0);
        self.from.read_exact(&mut self.rows)?;
        if crc32fast::hash(&self.rows) != crc {
            return Err(io::ErrorKind::InvalidData.into());
        }
        (self.read, self.before) = (0, Before::default());
        Ok(true)
    }
}
