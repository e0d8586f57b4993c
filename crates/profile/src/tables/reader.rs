//! Typed columns out of a Parquet file that is as it was written.

use std::path::PathBuf;

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::error::TablesError;
use crate::Ns;

/// An open table.
pub(super) struct Table {
    path: PathBuf,
    file: SerializedFileReader<Bytes>,
}

/// A column as stored: the values, and for optional columns which rows have one.
struct Stored<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl Table {
    pub(super) fn open(path: PathBuf, bytes: Vec<u8>) -> Result<Table, TablesError> {
        match SerializedFileReader::new(Bytes::from(bytes)) {
            Ok(file) => Ok(Table { path, file }),
            Err(source) => Err(TablesError::Parquet { path, source }),
        }
    }

    /// Row groups of the table.
    pub(super) fn groups(&self) -> std::ops::Range<usize> {
        0..self.file.num_row_groups()
    }

    pub(super) fn damaged(&self, what: impl Into<String>) -> TablesError {
        TablesError::Damaged { path: self.path.clone(), what: what.into() }
    }

    fn stored<T: DataType>(
        &self,
        group: usize,
        name: &str,
        physical: Physical,
        optional: bool,
    ) -> Result<Stored<T::T>, TablesError> {
        let parquet = |source: ParquetError| TablesError::Parquet { path: self.path.clone(), source };
        let columns = self.file.metadata().file_metadata().schema_descr().columns();
        // The library panics when a column is read as another type than its own.
        let position = columns
            .iter()
            .position(|column| {
                column.name() == name
                    && column.physical_type() == physical
                    && column.max_def_level() == i16::from(optional)
                    && column.max_rep_level() == 0
            })
            .ok_or_else(|| self.damaged(format!("it has no column {name} of the expected type")))?;
        let group = self.file.get_row_group(group).map_err(parquet)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut reader = get_typed_column_reader::<T>(group.get_column_reader(position).map_err(parquet)?);
        let mut stored =
            Stored { values: Vec::with_capacity(rows.min(super::columns::ROWS)), levels: Vec::new() };
        let mut read = 0;
        while read < rows {
            let levels = optional.then_some(&mut stored.levels);
            let (records, _, _) =
                reader.read_records(rows - read, levels, None, &mut stored.values).map_err(parquet)?;
            if records == 0 {
                return Err(self.damaged(format!("column {name} ends after {read} of {rows} rows")));
            }
            read += records;
        }
        Ok(stored)
    }

    fn required<T: DataType, V>(
        &self,
        group: usize,
        name: &str,
        physical: Physical,
        convert: impl Fn(T::T) -> V,
    ) -> Result<Vec<V>, TablesError> {
        let stored = self.stored::<T>(group, name, physical, false)?;
        Ok(stored.values.into_iter().map(convert).collect())
    }

    fn optional<T: DataType, V>(
        &self,
        group: usize,
        name: &str,
        physical: Physical,
        convert: impl Fn(T::T) -> V,
    ) -> Result<Vec<Option<V>>, TablesError> {
        let stored = self.stored::<T>(group, name, physical, true)?;
        let mut values = stored.values.into_iter();
        Ok(stored
            .levels
            .iter()
            .map(|&level| if level > 0 { values.next().map(&convert) } else { None })
            .collect())
    }

    pub(super) fn u32s(&self, group: usize, name: &str) -> Result<Vec<u32>, TablesError> {
        self.required::<Int32Type, _>(group, name, Physical::INT32, |v| v as u32)
    }

    pub(super) fn optional_u32s(&self, group: usize, name: &str) -> Result<Vec<Option<u32>>, TablesError> {
        self.optional::<Int32Type, _>(group, name, Physical::INT32, |v| v as u32)
    }

    pub(super) fn ids<Id: From<u32>>(&self, group: usize, name: &str) -> Result<Vec<Id>, TablesError> {
        self.required::<Int32Type, _>(group, name, Physical::INT32, |v| Id::from(v as u32))
    }

    pub(super) fn optional_ids<Id: From<u32>>(
        &self,
        group: usize,
        name: &str,
    ) -> Result<Vec<Option<Id>>, TablesError> {
        self.optional::<Int32Type, _>(group, name, Physical::INT32, |v| Id::from(v as u32))
    }

    pub(super) fn u64s(&self, group: usize, name: &str) -> Result<Vec<u64>, TablesError> {
        self.required::<Int64Type, _>(group, name, Physical::INT64, |v| v as u64)
    }

    pub(super) fn optional_u64s(&self, group: usize, name: &str) -> Result<Vec<Option<u64>>, TablesError> {
        self.optional::<Int64Type, _>(group, name, Physical::INT64, |v| v as u64)
    }

    pub(super) fn f64s(&self, group: usize, name: &str) -> Result<Vec<f64>, TablesError> {
        self.required::<DoubleType, _>(group, name, Physical::DOUBLE, |v| v)
    }

    pub(super) fn times(&self, group: usize, name: &str) -> Result<Vec<Ns>, TablesError> {
        self.required::<Int64Type, _>(group, name, Physical::INT64, Ns::new)
    }

    pub(super) fn optional_times(&self, group: usize, name: &str) -> Result<Vec<Option<Ns>>, TablesError> {
        self.optional::<Int64Type, _>(group, name, Physical::INT64, Ns::new)
    }

    pub(super) fn bools(&self, group: usize, name: &str) -> Result<Vec<bool>, TablesError> {
        self.required::<BoolType, _>(group, name, Physical::BOOLEAN, |v| v)
    }

    pub(super) fn texts(&self, group: usize, name: &str) -> Result<Vec<String>, TablesError> {
        self.required::<ByteArrayType, _>(group, name, Physical::BYTE_ARRAY, |v| string(&v))
    }

    pub(super) fn optional_texts(
        &self,
        group: usize,
        name: &str,
    ) -> Result<Vec<Option<String>>, TablesError> {
        self.optional::<ByteArrayType, _>(group, name, Physical::BYTE_ARRAY, |v| string(&v))
    }
}

fn string(bytes: &ByteArray) -> String {
    String::from_utf8_lossy(bytes.data()).into_owned()
}
