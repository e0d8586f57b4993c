//! Sizes as users write them.

/// Why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// It has a unit that there is not.
    #[error("`{0}` is no unit of size; use K, M, G or T")]
    Unit(String),
    /// It does not begin with a number.
    #[error("`{0}` is no size; write for example 500M")]
    Number(String),
    /// Nothing has so many bytes.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// Bytes of a size such as `500M`, `2GiB` or `4096`; K, M, G and T are powers of 1024.
///
/// # Errors
/// [`SizeError`] when the text is no size.
pub fn parse_bytes(text: &str) -> Result<u64, SizeError> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let unit = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        "T" | "TB" | "TIB" => 1_u64 << 40,
        _ => return Err(SizeError::Unit(unit.into())),
    };
    let number: u64 = digits.parse().map_err(|_| SizeError::Number(text.into()))?;
    number.checked_mul(unit).ok_or_else(|| SizeError::TooLarge(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        assert_eq!(parse_bytes("1G"), Ok(1 << 30));
        assert_eq!(parse_bytes("500m"), Ok(500 << 20));
        assert_eq!(parse_bytes("2MiB"), Ok(2 << 20));
        assert_eq!(parse_bytes("7"), Ok(7));
        assert_eq!(parse_bytes("3x"), Err(SizeError::Unit("x".into())));
        assert_eq!(parse_bytes("1.5G"), Err(SizeError::Number("1.5G".into())));
        assert_eq!(parse_bytes("-1"), Err(SizeError::Number("-1".into())));
        assert_eq!(parse_bytes("99999999999T"), Err(SizeError::TooLarge("99999999999T".into())));
    }
}
