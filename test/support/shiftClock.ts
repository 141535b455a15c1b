// Loaded into a relay by NODE_OPTIONS: shifts its wall clock by the milliseconds that a file holds, as if the clock of the machine
// were set. Timers and the monotonic clock go on as they are, as they do then.

import { readFileSync } from "node:fs";

const file = process.env["CLEANCAST_TEST_CLOCK"];
const checkMs = 20;

if (file) {
  const rightTime = Date.now.bind(Date);
  let shiftMs = 0;
  const read = () => {
    const text = readFileSync(file, "utf8");
    // A file that is being written is empty for a moment. Taken for 0, it would set the clock back by days.
    if (text !== "") shiftMs = Number(text);
  };
  read();
  setInterval(read, checkMs).unref();
  Date.now = () => rightTime() + shiftMs;
}
