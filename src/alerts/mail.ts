// Sends mail through the operator's SMTP server. Errors are described in our own words: a server's answer, or a URL, may
// contain a password.

import { createTransport } from "nodemailer";
import { within } from "../kernel/deadline.ts";
import { errorCode } from "../kernel/errorCode.ts";

type SmtpServer = { url: string; from: string };
/** `isDown`: the server would not have accepted any other message either. */
export type SendResult = { ok: true } | { ok: false; error: string; isDown?: boolean };

export type Attachment = { filename: string; contentType: string; content: Buffer };

export type Mailer = (
  to: readonly string[],
  subject: string,
  text: string,
  attachments?: readonly Attachment[],
) => Promise<SendResult>;

const stepTimeoutMs = 10_000;
const totalTimeoutMs = 30_000;
const verifyTimeoutMs = 5_000;

const timeouts = (ms: number) => ({
  connectionTimeout: ms,
  greetingTimeout: ms,
  socketTimeout: ms,
  dnsTimeout: ms,
});

export function createMailer({ url, from }: SmtpServer): Mailer {
  return async (to, subject, text, attachments = []) => {
    const transport = createTransport({
      url,
      ...timeouts(stepTimeoutMs),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const mail = {
        from,
        to: [...to],
        subject,
        text,
        attachments: [...attachments],
        headers: { "Auto-Submitted": "auto-generated" },
      };
      await within(totalTimeoutMs, transport.sendMail(mail), tooSlow);
      return { ok: true };
    } catch (error) {
      return { ok: false, error: describe(error), isDown: !isAboutMessage(error) };
    } finally {
      transport.close();
    }
  };
}

/** Checks that the server can be reached and accepts the password. Sends nothing. */
export async function verifyMailServer({ url }: SmtpServer): Promise<SendResult> {
  const transport = createTransport({ url, ...timeouts(verifyTimeoutMs) });
  try {
    await within(2 * verifyTimeoutMs, transport.verify(), tooSlow);
    return { ok: true };
  } catch (error) {
    return { ok: false, error: describe(error), isDown: true };
  } finally {
    transport.close();
  }
}

const tooSlow = "too slow";

const errorTexts: Record<string, string> = {
  ECONNECTION: "the mail server cannot be reached",
  ESOCKET: "the mail server cannot be reached",
  ECONNREFUSED: "the mail server refuses connections",
  EDNS: "the mail server's name cannot be looked up",
  ETIMEDOUT: "the mail server is too slow",
  ETLS: "the mail server's encryption failed",
  EAUTH: "the mail server refuses the user name or password",
  EENVELOPE: "the mail server refuses the sender or a recipient",
  EMESSAGE: "the mail server refuses the message",
  EPROTOCOL: "the mail server's answer cannot be understood",
};

const isAboutMessage = (error: unknown) => ["EENVELOPE", "EMESSAGE"].includes(errorCode(error));

/** Stops sending once the server was down: each further mail would wait for its timeout. */
export function stopWhenDown(mailer: Mailer): Mailer {
  let down: SendResult | null = null;
  return async (...mail) => {
    if (down) return down;
    const sent = await mailer(...mail);
    if (!sent.ok && sent.isDown) down = sent;
    return sent;
  };
}

function describe(error: unknown): string {
  if (error instanceof Error && error.message === tooSlow) return "the mail server is too slow";
  const code = errorCode(error);
  return errorTexts[code] ?? `the mail was not sent${/^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : ""}`;
}
