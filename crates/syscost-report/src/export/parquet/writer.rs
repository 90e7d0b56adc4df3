//! Writes columns of values as a Parquet file.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::ExportError;

/// The values of a column; `None` is null.
#[derive(Debug)]
pub(super) enum Values {
    /// VARCHAR.
    Text(Vec<Option<ByteArray>>),
    /// DOUBLE.
    Double(Vec<Option<f64>>),
    /// INT32.
    Int(Vec<Option<i32>>),
    /// INT64.
    Long(Vec<Option<i64>>),
    /// TIMESTAMP in microseconds since 1970, UTC.
    Time(Vec<Option<i64>>),
    /// BOOLEAN.
    Bool(Vec<Option<bool>>),
}

/// Columns of equal length with their names.
pub(super) type Table = Vec<(&'static str, Values)>;

impl Values {
    /// A column of texts.
    pub(super) fn text(texts: impl Iterator<Item = Option<String>>) -> Self {
        Values::Text(
            texts
                .map(|text| text.map(|text| text.into_bytes().into()))
                .collect(),
        )
    }

    fn len(&self) -> usize {
        match self {
            Values::Text(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Long(values) | Values::Time(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    fn schema(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Double(_) => (Physical::DOUBLE, None),
            Values::Int(_) => (Physical::INT32, None),
            Values::Long(_) => (Physical::INT64, None),
            Values::Time(_) => (
                Physical::INT64,
                Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            ),
            Values::Bool(_) => (Physical::BOOLEAN, None),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }

    fn write(&self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Values::Text(values) => put(column.typed::<ByteArrayType>(), values)?,
            Values::Double(values) => put(column.typed::<DoubleType>(), values)?,
            Values::Int(values) => put(column.typed::<Int32Type>(), values)?,
            Values::Long(values) | Values::Time(values) => {
                put(column.typed::<Int64Type>(), values)?;
            }
            Values::Bool(values) => put(column.typed::<BoolType>(), values)?,
        }
        column.close()
    }
}

/// Writes the values that are not null, and the definition levels that say which those are.
fn put<T: DataType>(
    column: &mut ColumnWriterImpl<'_, T>,
    values: &[Option<T::T>],
) -> Result<(), ParquetError> {
    let present: Vec<T::T> = values.iter().flatten().cloned().collect();
    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    column.write_batch(&present, Some(&levels), None)?;
    Ok(())
}

/// The bytes of a file with a row group for each table that has rows. All tables must have the
/// columns of the first.
pub(super) fn file(
    name: &str,
    tables: impl Iterator<Item = Result<Table, ExportError>>,
) -> Result<Vec<u8>, ExportError> {
    let mut tables = tables.peekable();
    let mut fields = Vec::new();
    if let Some(Ok(first)) = tables.peek() {
        for (name, values) in first {
            fields.push(Arc::new(values.schema(name)?));
        }
    }
    let schema = Type::group_type_builder(name).with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("syscost".to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    for table in tables {
        let table = table?;
        if table.first().is_none_or(|(_, values)| values.len() == 0) {
            continue;
        }
        let mut group = writer.next_row_group()?;
        for (_, values) in &table {
            if let Some(column) = group.next_column()? {
                values.write(column)?;
            }
        }
        group.close()?;
    }
    // This also writes the footer.
    Ok(writer.into_inner()?)
}
