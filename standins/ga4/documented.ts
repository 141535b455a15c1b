// Google's collector returns no errors of its own, only those of HTTP. The validation server explains what is wrong.

import type { DocumentedError } from "../shared/standin.ts";

const codes =
  "VALUE_INVALID VALUE_REQUIRED NAME_INVALID NAME_RESERVED VALUE_OUT_OF_BOUNDS EXCEEDED_MAX_ENTITIES NAME_DUPLICATED".split(" ");

export const documentedErrors: readonly DocumentedError[] = [
  { title: "204", answer: { status: 204 }, means: "accept" },
  { title: "no messages", answer: { status: 200, body: { validationMessages: [] } }, means: "accept" },
  ...codes.map((validationCode) => ({
    title: validationCode,
    answer: {
      status: 200,
      body: { validationMessages: [{ fieldPath: "events", description: "not valid", validationCode }] },
    },
    means: "reject" as const,
  })),
  ...[429, 500, 503].map((status) => ({ title: `${status}`, answer: { status }, means: "retry" as const })),
];
