// Fields of events and of rows of files.

export const fieldMessages = {
  row_cells: "the row has {cells} cells, the header {columns}",
  row_longer: "the row is longer than {kib} KiB",
  time_unreadable: "{field} is not a time that can be read; write it like 2026-10-31T12:30:00Z",
  time_ambiguous: "{field} is ambiguous (3 April or 4 March); choose the order of dates: mdy or dmy",
  event_time_too_old: "eventTime is older than events are kept (keep_events, {days} days)",
  id_not_storable: "{field} is longer than {max} characters, or has one that cannot be stored",
  id_is_email: "{field} is an email address and not an id",
  seen_at_too_old: "seenAt is older than visits are kept ({days} days)",
  field_not_a_string: "{field} must be a string",
  field_too_long: "{field} is longer than {max} characters",
  field_not_storable: "{field} contains a character that cannot be stored (NUL or half of a surrogate pair)",
  items_too_many: "items has more than {max} entries",
  field_not_an_object: "{field} must be an object",
  field_required: "{field} required",
  field_not_a_number: "{field} must be a finite JSON number",
  field_negative: "{field} must not be negative",
  field_too_large: "{field} must be at most {max}",
  field_not_whole: "{field} must be a whole number from {min} to {max}",
  events_not_a_list: "events must be an array of at most {max} events",
} as const;
