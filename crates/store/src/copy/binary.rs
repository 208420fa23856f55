//! Rows in the binary format of PostgreSQL's COPY.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use slated_model::clock::Timestamp;

use crate::copy::table::{Kind, Table};
use crate::driver::param::Param;
use crate::driver::postgres::value::{JSONB_VERSION, MILLIS_TO_2000, micros};
use crate::error::StoreError;

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
const HEADER_LENGTH: usize = SIGNATURE.len() + 8;
const END: i16 = -1;

pub(super) fn begin(out: &mut BytesMut) {
    out.put_slice(SIGNATURE);
    out.put_u64(0);
}

pub(super) fn end(out: &mut BytesMut) {
    out.put_i16(END);
}

pub(super) fn write_row(row: &[Param<'_>], out: &mut BytesMut) -> Result<(), StoreError> {
    out.put_i16(i16::try_from(row.len()).map_err(|_| broken("a row has too many columns"))?);
    for value in row {
        match *value {
            Param::Null => out.put_i32(-1),
            Param::Int(number) => {
                out.put_i32(8);
                out.put_i64(number);
            }
            Param::Flag(flag) => {
                out.put_i32(1);
                out.put_u8(u8::from(flag));
            }
            Param::Text(text) => write_field(&[], text.as_bytes(), out)?,
            Param::Json(text) => write_field(&[JSONB_VERSION], text.as_bytes(), out)?,
            Param::Bytes(bytes) => write_field(&[], bytes, out)?,
            Param::Id(id) => write_field(&[], &id, out)?,
            Param::Time(moment) => {
                out.put_i32(8);
                out.put_i64(micros(moment));
            }
        }
    }
    Ok(())
}

fn write_field(before: &[u8], bytes: &[u8], out: &mut BytesMut) -> Result<(), StoreError> {
    out.put_i32(
        i32::try_from(before.len() + bytes.len()).map_err(|_| broken("a value is too long"))?,
    );
    out.put_slice(before);
    out.put_slice(bytes);
    Ok(())
}

/// Takes rows out of what has arrived so far. The rest of a row may come later.
pub(super) struct Reader<'t> {
    table: &'t Table,
    buffer: BytesMut,
    has_begun: bool,
}

impl<'t> Reader<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        Self { table, buffer: BytesMut::new(), has_begun: false }
    }

    pub(super) fn push(&mut self, arrived: &[u8]) {
        self.buffer.extend_from_slice(arrived);
    }

    /// The next row as it was sent, if all of it is here.
    pub(super) fn next_row(&mut self) -> Result<Option<RawRow>, StoreError> {
        if !self.has_begun {
            if self.buffer.len() < HEADER_LENGTH {
                return Ok(None);
            }
            self.buffer.advance(HEADER_LENGTH);
            self.has_begun = true;
        }
        let Some(length) = whole_row(&self.buffer)? else { return Ok(None) };
        Ok(Some(RawRow(self.buffer.split_to(length).freeze())))
    }

    /// Shows the values of a row to `look`.
    pub(super) fn values<T>(
        &self,
        row: &RawRow,
        look: impl FnOnce(&[Param<'_>]) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut rest = &row.0[2..];
        let mut fields = Vec::with_capacity(self.table.columns.len());
        for column in &self.table.columns {
            let length = rest.get_i32();
            let field = usize::try_from(length).ok().map(|length| {
                let (field, behind) = rest.split_at(length);
                rest = behind;
                field
            });
            let ordered = match (column.kind, field) {
                (Kind::Json, Some([JSONB_VERSION, text @ ..])) => {
                    Some(column.in_order(utf8(text)?)?)
                }
                _ => None,
            };
            fields.push((column.kind, field, ordered));
        }
        let mut values = Vec::with_capacity(fields.len());
        for (kind, field, ordered) in &fields {
            values.push(match (field, ordered) {
                (None, _) => Param::Null,
                (Some(_), Some(text)) => Param::Json(text),
                (Some(field), None) => value(*kind, field)?,
            });
        }
        look(&values)
    }
}

pub(super) struct RawRow(Bytes);

/// The length of the first row, if all of it is there.
fn whole_row(buffer: &[u8]) -> Result<Option<usize>, StoreError> {
    let Some(count) = buffer.first_chunk() else { return Ok(None) };
    let count = i16::from_be_bytes(*count);
    let mut at = 2;
    for _ in 0..count.max(0) {
        let Some(length) = buffer.get(at..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
        at += 4 + usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
    }
    Ok((count != END && buffer.len() >= at).then_some(at))
}

fn value<'f>(kind: Kind, field: &'f [u8]) -> Result<Param<'f>, StoreError> {
    let short = |_| broken("a value has the wrong length");
    Ok(match kind {
        Kind::Int => Param::Int(i64::from_be_bytes(field.try_into().map_err(short)?)),
        Kind::Flag => Param::Flag(field == [1]),
        Kind::Text => Param::Text(utf8(field)?),
        Kind::Json => return Err(broken("jsonb in an unknown form")),
        Kind::Bytes => Param::Bytes(field),
        Kind::Id => Param::Id(field.try_into().map_err(short)?),
        Kind::Time => {
            let micros = i64::from_be_bytes(field.try_into().map_err(short)?);
            Param::Time(Timestamp::from_millis(micros.div_euclid(1000) + MILLIS_TO_2000))
        }
    })
}

fn utf8(bytes: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(bytes).map_err(|error| broken(&error.to_string()))
}

fn broken(reason: &str) -> StoreError {
    StoreError::Internal(format!("a row cannot be copied: {reason}"))
}
