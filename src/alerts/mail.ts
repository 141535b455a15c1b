// Mail through the operator's SMTP server. What goes wrong comes back in our own words: a server's answer, or a URL, may
// hold a password.

import { createTransport } from "nodemailer";
import { within } from "../kernel/deadline.ts";

export type SmtpServer = { url: string; from: string };
/** `isDown`: it would not have taken another message either. */
export type SendResult = { ok: true } | { ok: false; error: string; isDown?: boolean };

export type Mailer = (to: readonly string[], subject: string, text: string) => Promise<SendResult>;

const stepMs = 10_000;
const wholeMs = 30_000;
const tryMs = 5_000;

export function openMailer({ url, from }: SmtpServer): Mailer {
  return async (to, subject, text) => {
    const transport = createTransport({
      url,
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      socketTimeout: stepMs,
      dnsTimeout: stepMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const mail = { from, to: [...to], subject, text, headers: { "Auto-Submitted": "auto-generated" } };
      await within(wholeMs, transport.sendMail(mail), tooSlow);
      return { ok: true };
    } catch (error) {
      return { ok: false, error: describe(error), isDown: !isAboutMessage(error) };
    } finally {
      transport.close();
    }
  };
}

/** Whether the server can be reached and takes the password. Sends nothing. */
export async function tryMailServer({ url }: SmtpServer): Promise<SendResult> {
  const timeouts = {
    connectionTimeout: tryMs,
    greetingTimeout: tryMs,
    socketTimeout: tryMs,
    dnsTimeout: tryMs,
  };
  const transport = createTransport({ url, ...timeouts });
  try {
    await within(2 * tryMs, transport.verify(), tooSlow);
    return { ok: true };
  } catch (error) {
    return { ok: false, error: describe(error), isDown: true };
  } finally {
    transport.close();
  }
}

const tooSlow = "too slow";

const inWords: Record<string, string> = {
  ECONNECTION: "the mail server cannot be reached",
  ESOCKET: "the mail server cannot be reached",
  ECONNREFUSED: "the mail server refuses connections",
  EDNS: "the mail server's name cannot be looked up",
  ETIMEDOUT: "the mail server is too slow",
  ETLS: "the mail server's encryption failed",
  EAUTH: "the mail server refuses the user name or password",
  EENVELOPE: "the mail server refuses the sender or a recipient",
  EMESSAGE: "the mail server refuses the message",
  EPROTOCOL: "the mail server's answer makes no sense",
};

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

const isAboutMessage = (error: unknown) => ["EENVELOPE", "EMESSAGE"].includes(codeOf(error));

/** After the first failure of the server the others are not tried: each would take its time to fail. */
export function untilDown(mailer: Mailer): Mailer {
  let down: SendResult | null = null;
  return async (...mail) => {
    if (down) return down;
    const told = await mailer(...mail);
    if (!told.ok && told.isDown) down = told;
    return told;
  };
}

function describe(error: unknown): string {
  if (error instanceof Error && error.message === tooSlow) return "the mail server is too slow";
  const code = codeOf(error);
  return inWords[code] ?? `the mail was not sent${/^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : ""}`;
}
