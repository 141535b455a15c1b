// The way in for tests and the demo, whose relay and stand-ins are different processes:
//   POST /__standin/fault   a fault or a list of them       DELETE /__standin/fault   no more faults
//   POST /__standin/tokens  {"state":"expired"|"revoked"}   every token given out so far
//   GET  /__standin/log     what was received and taken     POST /__standin/reset     as after the start

import { readFaults } from "./faults.ts";
import type { StandinServer } from "./server.ts";
import type { Answer, Call } from "./standin.ts";

export function answerControl(call: Call, server: StandinServer): Answer {
  const done: Answer = { status: 200, body: { ok: true } };
  const wrong = (error: string): Answer => ({ status: 400, body: { ok: false, error } });
  switch (`${call.method} ${call.path}`) {
    case "GET /__standin/log":
      return { status: 200, body: { received: server.record.received, accepted: server.record.accepted } };
    case "POST /__standin/reset":
      server.reset();
      return done;
    case "DELETE /__standin/fault":
      server.faults.clear();
      return done;
    case "POST /__standin/fault": {
      const faults = readFaults(parse(call.text));
      if (typeof faults === "string") return wrong(faults);
      server.faults.add(faults);
      return done;
    }
    case "POST /__standin/tokens": {
      const state = (parse(call.text) as { state?: unknown } | null)?.state;
      if (state === "expired") server.tokens().expireAll();
      else if (state === "revoked") server.tokens().revokeAll();
      else return wrong("state must be expired or revoked");
      return done;
    }
    default:
      return { status: 404, body: { ok: false, error: "no such control" } };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
