// Builds a relay that records what it does to its disk (recordingRelay.ts), and reads its recordings.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildVersion } from "../support/schema/versions.ts";
import type { DiskCall } from "./diskModel.ts";
import { readFolder, type Recording } from "./powerCut.ts";
import type { RecordedCall } from "./recordingRelay.ts";

export const buildRecordingRelay = () =>
  buildVersion("0.2.0", [], fileURLToPath(new URL("./recordingRelay.ts", import.meta.url)));

export function readRecording(folder: string): Recording {
  const lines = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
  return { start: readFolder(join(folder, "start")), calls: lines.map(readCall) };
}

function readCall(line: string): DiskCall {
  const call = JSON.parse(line) as RecordedCall;
  return call.kind === "write" ? { ...call, data: Buffer.from(call.data, "base64") } : call;
}
