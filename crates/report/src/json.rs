//! Pages as JSON.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter};

/// As compact as can be, and with one zero: a sum of nothing is -0 in some places, which says nothing and
/// surprises.
struct OneZero;

impl Formatter for OneZero {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        CompactFormatter.write_f64(writer, value + 0.0)
    }
}

/// Writes a page, ended by a line feed.
///
/// # Errors
/// Those of `to`: every field is a number, a text or a list of them, and nothing that cannot be written.
pub(crate) fn write_to(page: &impl Serialize, mut to: &mut dyn io::Write) -> io::Result<()> {
    page.serialize(&mut Serializer::with_formatter(&mut to, OneZero))?;
    to.write_all(b"\n")
}

/// As [`write_to`], as a text.
pub(crate) fn write(page: &impl Serialize) -> String {
    let mut text = Vec::new();
    write_to(page, &mut text).expect("memory takes everything");
    String::from_utf8(text).expect("JSON is UTF-8")
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_one_zero() {
        assert_eq!(super::write(&[-0.0, 0.0, -1.5, f64::NAN]), "[0.0,0.0,-1.5,null]\n");
    }
}
