//! A fast hasher for numbers. What is hashed are positions and addresses of the measured program: whoever
//! wants to slow the analysis down has easier ways.

use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Build = BuildHasherDefault<Numbers>;
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, Build>;

#[derive(Default)]
pub(crate) struct Numbers(u64);

impl Hasher for Numbers {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, key: u8) {
        self.write_u64(u64::from(key));
    }

    fn write_u32(&mut self, key: u32) {
        self.write_u64(u64::from(key));
    }

    fn write_u64(&mut self, key: u64) {
        // 2⁶⁴ divided by the golden ratio spreads keys over the high bits; tables index by the low ones.
        let spread = (self.0.rotate_left(23) ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }

    fn write_usize(&mut self, key: usize) {
        self.write_u64(key as u64);
    }

    fn write_isize(&mut self, key: isize) {
        self.write_u64(key as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
