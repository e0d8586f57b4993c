//! Long names in narrow columns.

/// The text in at most `width` characters; what is too long loses its middle, since both ends tell names
/// apart.
pub fn middle(text: &str, width: usize, unicode: bool) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let gap = if unicode { "…" } else { "..." };
    let kept = width.saturating_sub(gap.chars().count());
    if kept == 0 {
        return text.chars().take(width).collect();
    }
    let (front, back) = (kept.div_ceil(2), kept / 2);
    text.chars().take(front).chain(gap.chars()).chain(text.chars().skip(length - back)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_stay() {
        assert_eq!(middle("abcdefghij", 10, true), "abcdefghij");
        assert_eq!(middle("abcdefghij", 7, true), "abc…hij");
        assert_eq!(middle("abcdefghij", 7, false), "ab...ij");
        assert_eq!(middle("abcdefghij", 1, true), "a");
        assert_eq!(middle("abcdefghij", 0, true), "");
    }
}
