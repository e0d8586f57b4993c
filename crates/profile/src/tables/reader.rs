//! Typed columns out of a Parquet file that is as it was written.

use std::path::PathBuf;

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::error::TablesError;

/// An open table.
pub struct Table {
    path: PathBuf,
    file: SerializedFileReader<Bytes>,
}

/// Rows `$row { field: source, … }` of a row group of `$table`, where a source names the column and how it is
/// read; all columns of a group have the same length.
#[macro_export]
macro_rules! zip_rows {
    ($table:ident, $group:ident; $($column:ident: $read:ident),+ $(,)?; $row:expr) => {{
        $(let mut $column = $table.$read($group, stringify!($column))?.into_iter();)+
        let mut rows = Vec::new();
        while let ($(Some($column),)+) = ($($column.next(),)+) {
            rows.push($row);
        }
        Ok(rows)
    }};
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
    pub fn groups(&self) -> std::ops::Range<usize> {
        0..self.file.num_row_groups()
    }

    /// That what is read makes no sense.
    pub fn damaged(&self, what: impl Into<String>) -> TablesError {
        TablesError::Damaged { path: self.path.clone(), what: what.into() }
    }

    /// All rows; `group_rows` gives those of a row group.
    ///
    /// # Errors
    /// What `group_rows` gives.
    pub fn rows<T>(
        &self,
        group_rows: impl Fn(&Table, usize) -> Result<Vec<T>, TablesError>,
    ) -> Result<Vec<T>, TablesError> {
        let mut all = Vec::new();
        for group in self.groups() {
            all.append(&mut group_rows(self, group)?);
        }
        Ok(all)
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

    /// A column of small numbers, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn u32s(&self, group: usize, name: &str) -> Result<Vec<u32>, TablesError> {
        self.required::<Int32Type, _>(group, name, Physical::INT32, |v| v as u32)
    }

    /// A column of small numbers or nothing, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn optional_u32s(&self, group: usize, name: &str) -> Result<Vec<Option<u32>>, TablesError> {
        self.optional::<Int32Type, _>(group, name, Physical::INT32, |v| v as u32)
    }

    /// A column of ids, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn ids<Id: From<u32>>(&self, group: usize, name: &str) -> Result<Vec<Id>, TablesError> {
        self.required::<Int32Type, _>(group, name, Physical::INT32, |v| Id::from(v as u32))
    }

    /// A column of ids or nothing, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn optional_ids<Id: From<u32>>(
        &self,
        group: usize,
        name: &str,
    ) -> Result<Vec<Option<Id>>, TablesError> {
        self.optional::<Int32Type, _>(group, name, Physical::INT32, |v| Id::from(v as u32))
    }

    /// A column of large numbers, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn u64s(&self, group: usize, name: &str) -> Result<Vec<u64>, TablesError> {
        self.required::<Int64Type, _>(group, name, Physical::INT64, |v| v as u64)
    }

    /// A column of large numbers or nothing, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn optional_u64s(&self, group: usize, name: &str) -> Result<Vec<Option<u64>>, TablesError> {
        self.optional::<Int64Type, _>(group, name, Physical::INT64, |v| v as u64)
    }

    /// A column of numbers with a point, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn f64s(&self, group: usize, name: &str) -> Result<Vec<f64>, TablesError> {
        self.required::<DoubleType, _>(group, name, Physical::DOUBLE, |v| v)
    }

    /// A column of numbers with a point or nothing, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn optional_f64s(&self, group: usize, name: &str) -> Result<Vec<Option<f64>>, TablesError> {
        self.optional::<DoubleType, _>(group, name, Physical::DOUBLE, |v| v)
    }

    /// A column of yes and no, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn bools(&self, group: usize, name: &str) -> Result<Vec<bool>, TablesError> {
        self.required::<BoolType, _>(group, name, Physical::BOOLEAN, |v| v)
    }

    /// A column of texts, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn texts(&self, group: usize, name: &str) -> Result<Vec<String>, TablesError> {
        self.required::<ByteArrayType, _>(group, name, Physical::BYTE_ARRAY, |v| string(&v))
    }

    /// A column of texts or nothing, in a row group.
    ///
    /// # Errors
    /// [`TablesError`] when there is none of this name and type, or it cannot be decoded.
    pub fn optional_texts(
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
