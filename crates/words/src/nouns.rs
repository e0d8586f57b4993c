//! Counted nouns: `1 thread`, `1 200 processes`.

/// A whole number with its thousands set apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `counted(2, "process")` is `2 processes`. What is inflected is the noun's last
/// word.
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let is_of_vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    let (stem, ending) = match noun.strip_suffix('y').filter(|stem| !is_of_vowel(stem)) {
        _ if number == 1 => (noun, ""),
        Some(stem) => (stem, "ies"),
        None if noun.ends_with("ss") => (noun, "es"),
        None => (noun, "s"),
    };
    format!("{} {stem}{ending}", count(number))
}

/// The verb's form for a number: `verb(1, "was", "were")`.
pub fn verb<'w>(number: impl TryInto<u64>, one: &'w str, many: &'w str) -> &'w str {
    if number.try_into().is_ok_and(|number| number == 1) { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_nothing_else() {
        assert_eq!(counted(1_usize, "thread"), "1 thread");
        assert_eq!(counted(0_u32, "call"), "0 calls");
        assert_eq!(counted(2_u64, "process"), "2 processes");
        assert_eq!(counted(1_i32, "process"), "1 process");
        assert_eq!(counted(4_u64, "activity"), "4 activities");
        assert_eq!(
            (counted(1_u64, "activity"), counted(2_u64, "day")),
            ("1 activity".into(), "2 days".into())
        );
        assert_eq!(counted(12_000_u64, "partial path"), "12 000 partial paths");
        assert_eq!((verb(1_usize, "has", "have"), verb(0_usize, "has", "have")), ("has", "have"));
    }
}
