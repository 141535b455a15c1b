// Writes and sends the emails that carry one-time links.

import type { AccessContext } from "./context.ts";

type Mail = { subject: string; text: string };

export function invitationMail(url: string, link: string, by: string, where: string): Mail {
  return {
    subject: "Invitation to Cleancast",
    text: `${by} invites you to ${where} on ${url}.

Open this link to accept. It works once, and for 7 days:

${link}

If you did not expect this invitation, ignore this email.
`,
  };
}

export function resetMail(url: string, link: string, hours: number): Mail {
  const time = hours === 1 ? "an hour" : `${hours} hours`;
  return {
    subject: "Reset your Cleancast password",
    text: `A password reset was requested for your account on ${url}.

Open this link to choose a new password. It works once, and for ${time}:

${link}

If you did not request this, ignore this email: your password stays the same.
`,
  };
}

/** Returns false without a mail server, and when the email could not be sent. */
export async function sendMail({ mailer, onDefect }: AccessContext, to: string, { subject, text }: Mail): Promise<boolean> {
  if (!mailer) return false;
  const result = await mailer([to], subject, text);
  if (!result.ok) onDefect(new Error(`an email with a link was not sent: ${result.error}`));
  return result.ok;
}
