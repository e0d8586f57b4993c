//! Long names in narrow columns.

use std::ops::Range;

use proust_words::arguments::{lists, own_name};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in at most `width` columns of a terminal. A name that is too long loses parts of its template
/// arguments first, then its middle, since both ends distinguish names.
pub fn middle(text: &str, width: usize, unicode: bool) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    within_arguments(text, width, unicode).unwrap_or_else(|| without_middle(text, width, unicode))
}

fn gap(unicode: bool) -> &'static str {
    if unicode { "…" } else { "..." }
}

/// The arguments of each list in equal room, if what is around them leaves enough of it.
fn within_arguments(text: &str, width: usize, unicode: bool) -> Option<String> {
    /// A letter at each end, so that lists can still differ.
    const LETTERS: usize = 2;
    let lists = lists(text);
    let inside = |list: &Range<usize>| list.start + 1..list.end - 1;
    let mut contents: Vec<(usize, &str)> = lists.iter().map(|list| &text[inside(list)]).enumerate().collect();
    let around = text.width() - contents.iter().map(|(_, content)| content.width()).sum::<usize>();
    let mut room = width.checked_sub(around).filter(|_| !contents.is_empty())?;
    if room < contents.len() * (gap(unicode).width() + LETTERS) {
        return None;
    }
    // What short ones do not need is left to the others.
    contents.sort_by_key(|(_, content)| content.width());
    let mut shown = vec![String::new(); contents.len()];
    for (done, &(list, content)) in contents.iter().enumerate() {
        shown[list] = middle(content, room / (contents.len() - done), unicode);
        room -= shown[list].width();
    }
    let mut short = String::with_capacity(text.len());
    let mut from = 0;
    for (list, shown) in lists.iter().zip(shown) {
        short.push_str(&text[from..inside(list).start]);
        short.push_str(&shown);
        from = inside(list).end;
    }
    short.push_str(&text[from..]);
    Some(short)
}

fn without_middle(text: &str, width: usize, unicode: bool) -> String {
    let gap = gap(unicode);
    let kept = width.saturating_sub(gap.width());
    if kept == 0 {
        return text[..front(text, width)].to_owned();
    }
    let (left, right) = (kept.div_ceil(2), kept / 2);
    format!("{}{gap}{}", &text[..front(text, left)], &text[back(text, right)..])
}

/// A name, or a chain of names (`a › b`), in at most `width` columns. One that is too long loses the
/// namespaces of its functions first: what a function is called says more than where it is from.
pub(crate) fn name(text: &str, width: usize, unicode: bool) -> String {
    if text.width() <= width || !text.contains("::") {
        return middle(text, width, unicode);
    }
    let chain = [" › ", " > "].into_iter().find(|sign| text.contains(sign)).unwrap_or(" › ");
    let names: Vec<String> = text.split(chain).map(without_namespaces).collect();
    middle(&names.join(chain), width, unicode)
}

/// A function's own name, behind the lines of a tree.
fn without_namespaces(text: &str) -> String {
    let begin = text.find(|c: char| c.is_alphanumeric() || "<_~{(*&[$".contains(c)).unwrap_or(0);
    let (lines, name) = text.split_at(begin);
    format!("{lines}{}", own_name(name))
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
    use proptest::prelude::*;

    #[test]
    fn both_ends_stay() {
        assert_eq!(middle("abcdefghij", 10, true), "abcdefghij");
        assert_eq!(middle("abcdefghij", 7, true), "abc…hij");
        assert_eq!(middle("abcdefghij", 7, false), "ab...ij");
        assert_eq!(middle("abcdefghij", 1, true), "a");
        assert_eq!(middle("abcdefghij", 0, true), "");
    }

    #[test]
    fn names_lose_their_namespaces_first() {
        let chain = "│ ├ app::picture::{{closure}} › app::shade › <u64>::wrapping_add (inlined)";
        assert_eq!(name(chain, 80, true), chain);
        assert_eq!(name(chain, 60, true), "│ ├ picture::{{closure}} › shade › wrapping_add (inlined)");
        assert_eq!(name("  └ a::Long::call", 10, true), "  └ call");
    }

    #[test]
    fn arguments_are_shortened_first() {
        let name = "grid::Field<std::map<int, std::string>>::smooth<double>";
        assert_eq!(middle(name, 60, true), name);
        assert_eq!(middle(name, 50, true), "grid::Field<std::map<int, …tring>>::smooth<double>");
        assert_eq!(middle(name, 40, true), "grid::Field<std::…ring>>::smooth<double>");
        assert_eq!(middle(name, 30, true), "grid::Field<st…>>::smooth<d…e>");
        // No letter of an argument would be left.
        assert_eq!(middle(name, 20, true), "grid::Fiel…h<double>");
        assert_eq!(middle("solve<float>", 11, false), "solv...oat>");
    }

    proptest! {
        #[test]
        fn no_name_is_wider_than_its_room(
            name in "[a-c:]{0,9}(<[a-c<>, :é計]{0,12}>)?[a-c:]{0,9}(<[a-c, ]{0,9}>)?",
            width in 0_usize..40,
            unicode: bool,
        ) {
            let shown = middle(&name, width, unicode);
            prop_assert!(shown.width() <= width);
            prop_assert!(name.width() > width || shown == name);
        }
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
