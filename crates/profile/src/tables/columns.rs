//! Columns, and a table of them as Parquet bytes.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Encoding, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

/// Rows of a row group: what is written, and can be read, at once.
pub(super) const ROWS: usize = 256 * 1024;

/// The cells of one column.
#[derive(Debug)]
pub(super) enum Cells {
    /// Few different numbers, or small ones.
    U32(Vec<u32>),
    /// Small numbers or nothing.
    OptionalU32(Vec<Option<u32>>),
    /// Large numbers that grow slowly.
    U64(Vec<u64>),
    /// Such numbers or nothing.
    OptionalU64(Vec<Option<u64>>),
    /// Numbers with a sign: times.
    I64(Vec<i64>),
    /// Such numbers or nothing.
    OptionalI64(Vec<Option<i64>>),
    /// Few different large numbers: addresses, ids, amounts.
    Id(Vec<u64>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
    OptionalText(Vec<Option<ByteArray>>),
}

/// One column of a table.
#[derive(Debug)]
pub(super) struct Column {
    name: &'static str,
    cells: Cells,
}

/// The text of a cell.
pub(super) fn text(text: &str) -> ByteArray {
    ByteArray::from(text.as_bytes())
}

impl Column {
    pub(super) fn new(name: &'static str, cells: Cells) -> Column {
        Column { name, cells }
    }

    fn rows(&self) -> usize {
        match &self.cells {
            Cells::U32(cells) => cells.len(),
            Cells::OptionalU32(cells) => cells.len(),
            Cells::U64(cells) | Cells::Id(cells) => cells.len(),
            Cells::OptionalU64(cells) => cells.len(),
            Cells::I64(cells) => cells.len(),
            Cells::OptionalI64(cells) => cells.len(),
            Cells::F64(cells) => cells.len(),
            Cells::Bool(cells) => cells.len(),
            Cells::Text(cells) => cells.len(),
            Cells::OptionalText(cells) => cells.len(),
        }
    }

    fn schema(&self) -> Result<Type> {
        const OPTIONAL: Repetition = Repetition::OPTIONAL;
        const REQUIRED: Repetition = Repetition::REQUIRED;
        let (physical, converted, repetition) = match &self.cells {
            Cells::U32(_) => (Physical::INT32, ConvertedType::UINT_32, REQUIRED),
            Cells::OptionalU32(_) => (Physical::INT32, ConvertedType::UINT_32, OPTIONAL),
            Cells::U64(_) | Cells::Id(_) => (Physical::INT64, ConvertedType::UINT_64, REQUIRED),
            Cells::OptionalU64(_) => (Physical::INT64, ConvertedType::UINT_64, OPTIONAL),
            Cells::I64(_) => (Physical::INT64, ConvertedType::INT_64, REQUIRED),
            Cells::OptionalI64(_) => (Physical::INT64, ConvertedType::INT_64, OPTIONAL),
            Cells::F64(_) => (Physical::DOUBLE, ConvertedType::NONE, REQUIRED),
            Cells::Bool(_) => (Physical::BOOLEAN, ConvertedType::NONE, REQUIRED),
            Cells::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, REQUIRED),
            Cells::OptionalText(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, OPTIONAL),
        };
        Type::primitive_type_builder(self.name, physical)
            .with_converted_type(converted)
            .with_repetition(repetition)
            .build()
    }

    fn write<W: Write + Send>(&self, group: &mut SerializedRowGroupWriter<'_, W>, from: usize) -> Result<()> {
        match &self.cells {
            Cells::U32(cells) => {
                required::<Int32Type>(group, slice(cells, from).iter().map(|&v| v as i32).collect())
            }
            Cells::OptionalU32(cells) => {
                optional::<Int32Type>(group, slice(cells, from).iter().map(|v| v.map(|v| v as i32)))
            }
            Cells::OptionalU64(cells) => {
                optional::<Int64Type>(group, slice(cells, from).iter().map(|v| v.map(|v| v as i64)))
            }
            Cells::U64(cells) | Cells::Id(cells) => {
                required::<Int64Type>(group, slice(cells, from).iter().map(|&v| v as i64).collect())
            }
            Cells::I64(cells) => required::<Int64Type>(group, slice(cells, from).to_vec()),
            Cells::OptionalI64(cells) => optional::<Int64Type>(group, slice(cells, from).iter().copied()),
            Cells::F64(cells) => required::<DoubleType>(group, slice(cells, from).to_vec()),
            Cells::Bool(cells) => required::<BoolType>(group, slice(cells, from).to_vec()),
            Cells::Text(cells) => required::<ByteArrayType>(group, slice(cells, from).to_vec()),
            Cells::OptionalText(cells) => {
                optional::<ByteArrayType>(group, slice(cells, from).iter().cloned())
            }
        }
    }
}

/// The rows of one row group.
fn slice<T>(cells: &[T], from: usize) -> &[T] {
    &cells[from.min(cells.len())..(from + ROWS).min(cells.len())]
}

fn required<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: Vec<T::T>,
) -> Result<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, None, None)?;
        column.close()?;
    }
    Ok(())
}

fn optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let mut levels = Vec::new();
    let mut values = Vec::new();
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}

/// The columns, all of one length, as a Parquet file.
pub(super) fn to_parquet(columns: &[Column]) -> Result<Vec<u8>> {
    let mut file = begin(Vec::new(), columns)?;
    let rows = columns.first().map_or(0, Column::rows);
    for from in (0..rows).step_by(ROWS) {
        write_group(&mut file, columns, from)?;
    }
    file.into_inner()
}

/// A table in parts of at most [`ROWS`] rows, each the same columns, as a Parquet file: one part is in memory
/// at once. The first one may be empty; without one there is no table.
pub(super) fn write_parts<W: Write + Send>(
    to: W,
    parts: impl IntoIterator<Item = Vec<Column>>,
) -> Result<()> {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return Err(ParquetError::General("no columns".to_owned())) };
    let mut file = begin(to, &first)?;
    for columns in std::iter::once(first).chain(parts) {
        if columns.first().is_some_and(|column| column.rows() > 0) {
            write_group(&mut file, &columns, 0)?;
        }
    }
    file.close().map(|_| ())
}

fn begin<W: Write + Send>(to: W, columns: &[Column]) -> Result<SerializedFileWriter<W>> {
    let fields = columns.iter().map(|column| column.schema().map(Arc::new)).collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("proust").with_fields(fields).build()?;
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_created_by(concat!("proust ", env!("CARGO_PKG_VERSION")).into());
    for column in columns {
        if matches!(column.cells, Cells::U64(_) | Cells::OptionalU64(_)) {
            let path = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties.build()))
}

fn write_group(
    file: &mut SerializedFileWriter<impl Write + Send>,
    columns: &[Column],
    from: usize,
) -> Result<()> {
    let mut group = file.next_row_group()?;
    for column in columns {
        column.write(&mut group, from)?;
    }
    group.close().map(|_| ())
}
