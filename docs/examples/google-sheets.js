// Google Apps Script, bound to a spreadsheet: sends the rows of the sheet "Conversions" that were not sent yet, up to 500 at a
// time, and writes the result into the column "cleancast". Script properties: CLEANCAST_INBOUND, CLEANCAST_KEY.
// Columns, in any order: email, event, value, currency, orderId, eventTime, cleancast.

const maxBatch = 500;

/** Run this with a time-driven trigger, every 5 minutes. A row that could not be sent is sent by a later run. */
function sendConversions() {
  const lock = LockService.getScriptLock();
  // Another run is at work.
  if (!lock.tryLock(1000)) return;
  try {
    const sheet = SpreadsheetApp.getActiveSpreadsheet().getSheetByName("Conversions");
    const [head, ...rows] = sheet.getDataRange().getValues();
    const column = (name) => {
      const index = head.indexOf(name);
      if (index < 0) throw new Error(`The sheet has no column "${name}".`);
      return index;
    };
    const resultColumn = column("cleancast") + 1;
    const open = rows
      .map((row, i) => ({ row, line: i + 2 }))
      .filter(({ row }) => row[column("cleancast")] === "" && row[column("email")] !== "")
      .slice(0, maxBatch);
    const ready = [];
    for (const { row, line } of open) {
      try {
        ready.push({ line, event: eventOf((name) => row[column(name)]) });
      } catch (error) {
        sheet.getRange(line, resultColumn).setValue(`not sent: ${error.message}`);
      }
    }
    if (ready.length === 0) return;
    const results = post(ready.map(({ event }) => event));
    for (const [i, { line }] of ready.entries()) sheet.getRange(line, resultColumn).setValue(textOf(results[i]));
  } finally {
    lock.releaseLock();
  }
}

/** An amount like "1.234,50" is a text in a cell. JSON would send it as one, and a wrong one must not become 0. */
function eventOf(cell) {
  const value = cell("value");
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Error("value is not a number");
  for (const name of ["event", "currency", "orderId"]) if (cell(name) === "") throw new Error(`${name} is empty`);
  const time = cell("eventTime");
  return {
    email: String(cell("email")),
    event: String(cell("event")),
    value,
    currency: String(cell("currency")),
    orderId: String(cell("orderId")),
    // A cell with a date is a Date.
    ...(time === "" ? {} : { eventTime: time instanceof Date ? time.toISOString() : String(time) }),
  };
}

/** Throws if the relay cannot be reached: the rows stay open, and Google mails the owner of the script. */
function post(events) {
  const properties = PropertiesService.getScriptProperties();
  const response = UrlFetchApp.fetch(`${properties.getProperty("CLEANCAST_INBOUND")}/batch`, {
    method: "post",
    contentType: "application/json",
    headers: { "X-CC-Api-Key": properties.getProperty("CLEANCAST_KEY") },
    payload: JSON.stringify({ events }),
    followRedirects: false,
    muteHttpExceptions: true,
  });
  const text = response.getContentText();
  const answer = response.getResponseCode() === 200 && text.startsWith("{") ? JSON.parse(text) : {};
  // Only the relay answers ok: true; a proxy in between may also answer 200.
  if (answer.ok !== true) throw new Error(`Cleancast: ${response.getResponseCode()} ${text.slice(0, 200)}`);
  return answer.results;
}

function textOf({ ok, deduped, filtered, error, status }) {
  if (!ok) return status >= 500 || status === 429 ? "" : `refused: ${error}`;
  return deduped ? "duplicate" : filtered ? "filtered" : "sent";
}
