// The mails that carry links, and what happens where none can be sent.

import type { AccessParts } from "./context.ts";

type Letter = { subject: string; text: string };

export function invitationMail(url: string, link: string, by: string, where: string): Letter {
  return {
    subject: "Invitation to Cleancast",
    text: `${by} invites you to ${where} on ${url}.

Open this link to accept. It works once, and for 7 days:

${link}

If you do not know what this is about, ignore this mail.
`,
  };
}

export function resetMail(url: string, link: string, hours: number): Letter {
  const time = hours === 1 ? "an hour" : `${hours} hours`;
  return {
    subject: "A new password for Cleancast",
    text: `Somebody asked for a new password for your account on ${url}.

Open this link to choose one. It works once, and for ${time}:

${link}

If it was not you, ignore this mail: your password stays as it is.
`,
  };
}

/** False where no mail can be sent, or where this one was not. */
export async function isMailed(
  { mailer, onDefect }: AccessParts,
  to: string,
  { subject, text }: Letter,
): Promise<boolean> {
  if (!mailer) return false;
  const told = await mailer([to], subject, text);
  if (!told.ok) onDefect(new Error(`a mail with a link was not sent: ${told.error}`));
  return told.ok;
}
