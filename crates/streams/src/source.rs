//! Where bytes are read from: a file by `pread`, or memory. Many threads read at once.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that can be read at any place.
pub trait ReadAt: Send + Sync {
    /// Reads exactly as many bytes as the buffer has.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// How many bytes there are.
    fn length(&self) -> io::Result<u64>;
}

impl ReadAt for File {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, buffer, offset)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl ReadAt for Vec<u8> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let begin = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes =
            self.get(begin..begin.saturating_add(buffer.len())).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}
