//! Long names in narrow columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in at most `width` columns of a terminal; a name that is too long loses its middle, since both
/// ends distinguish names.
pub fn middle(text: &str, width: usize, unicode: bool) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let gap = if unicode { "…" } else { "..." };
    let kept = width.saturating_sub(gap.width());
    if kept == 0 {
        return text[..front(text, width)].to_owned();
    }
    let (left, right) = (kept.div_ceil(2), kept / 2);
    format!("{}{gap}{}", &text[..front(text, left)], &text[back(text, right)..])
}

/// Where the longest beginning of at most `width` columns ends.
fn front(text: &str, width: usize) -> usize {
    let mut column = 0;
    let too_far = text.char_indices().find(|(_, c)| {
        column += c.width().unwrap_or(1);
        column > width
    });
    too_far.map_or(text.len(), |(at, _)| at)
}

/// Where the longest end of at most `width` columns begins. Marks that combine with what is left out are left
/// out, too.
fn back(text: &str, width: usize) -> usize {
    let (mut column, mut begin) = (0, text.len());
    for (at, c) in text.char_indices().rev() {
        let columns = c.width().unwrap_or(1);
        column += columns;
        if column > width {
            break;
        }
        if columns > 0 {
            begin = at;
        }
    }
    begin
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

    #[test]
    fn wide_and_combining_characters_take_the_columns_they_take() {
        assert_eq!(middle("計算する関数の名前", 18, true), "計算する関数の名前");
        assert_eq!(middle("計算する関数の名前", 9, true), "計算…名前");
        assert_eq!(middle("計算する関数の名前", 8, true), "計算…前");
        // An e with an accent of its own is one column.
        assert_eq!(middle("e\u{301}e\u{301}e\u{301}", 3, true), "e\u{301}e\u{301}e\u{301}");
        assert_eq!(middle("ae\u{301}bcde\u{301}f", 5, true), "ae\u{301}…e\u{301}f");
    }
}
