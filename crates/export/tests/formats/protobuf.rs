//! The wire format of protocol buffers, read by its definition: a message is fields, a field is a key
//! (number × 8 + type) and a varint (type 0) or a length and bytes (type 2).

/// The content of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a message, in their order.
#[derive(Debug)]
pub struct Fields<'b>(Vec<(u64, Content<'b>)>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a varint that ends");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varint of more than 64 bits");
}

impl<'b> Fields<'b> {
    pub fn of(mut bytes: &'b [u8]) -> Fields<'b> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let content = match key % 8 {
                0 => Content::Number(varint(&mut bytes)),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (content, rest) = bytes.split_at(length);
                    bytes = rest;
                    Content::Bytes(content)
                }
                other => panic!("type {other} is in no message of a profile"),
            };
            fields.push((key / 8, content));
        }
        Fields(fields)
    }

    pub fn all(&self) -> &[(u64, Content<'b>)] {
        &self.0
    }

    pub fn messages(&self, number: u64) -> Vec<Fields<'b>> {
        self.bytes(number).into_iter().map(Fields::of).collect()
    }

    pub fn texts(&self, number: u64) -> Vec<&'b str> {
        self.bytes(number).into_iter().map(|bytes| std::str::from_utf8(bytes).unwrap()).collect()
    }

    fn bytes(&self, number: u64) -> Vec<&'b [u8]> {
        let fields = self.0.iter().filter(|(found, _)| *found == number);
        fields
            .map(|(_, content)| match content {
                Content::Bytes(bytes) => *bytes,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// A number; 0 where it is left out.
    pub fn number(&self, number: u64) -> u64 {
        self.numbers(number).last().copied().unwrap_or(0)
    }

    /// Repeated numbers, packed or not.
    pub fn numbers(&self, number: u64) -> Vec<u64> {
        let mut found = Vec::new();
        for (_, content) in self.0.iter().filter(|(field, _)| *field == number) {
            match content {
                Content::Number(value) => found.push(*value),
                Content::Bytes(packed) => {
                    let mut bytes = *packed;
                    while !bytes.is_empty() {
                        found.push(varint(&mut bytes));
                    }
                }
            }
        }
        found
    }
}
