// A mail server for tests: accepts every message, except those that the test refuses.

import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterFile, takeAll } from "../afterFile.ts";

type Mail = { from: string; to: string[]; subject: string; text: string; raw: string };

export type MailServer = {
  url: string;
  got: Mail[];
  /** Answers every recipient with 550. */
  rejectsRecipients: boolean;
  close(): Promise<void>;
};

const open = new Set<MailServer>();

afterFile(async () => {
  for (const server of takeAll(open)) await server.close();
});

export async function startMailServer(): Promise<MailServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    serveConnection(socket, mail);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const mail: MailServer = {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got: [],
    rejectsRecipients: false,
    async close() {
      open.delete(mail);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  open.add(mail);
  return mail;
}

function serveConnection(socket: Socket, mail: MailServer): void {
  let buffer = "";
  let from = "";
  let to: string[] = [];
  let isData = false;
  const reply = (line: string) => socket.write(`${line}\r\n`);
  const address = (line: string) => /<([^>]*)>/.exec(line)?.[1] ?? "";

  function handle(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === "EHLO" || verb === "HELO") reply("250 test");
    else if (verb === "MAIL") {
      from = address(line);
      to = [];
      reply("250 ok");
    } else if (verb === "RCPT") {
      if (mail.rejectsRecipients) return void reply("550 no such person");
      to.push(address(line));
      reply("250 ok");
    } else if (verb === "DATA") {
      isData = true;
      reply("354 go on");
    } else if (verb === "QUIT") {
      reply("221 bye");
      socket.end();
    } else reply("250 ok");
  }

  reply("220 test");
  socket.setEncoding("utf8").on("data", (text: string) => {
    buffer += text;
    for (;;) {
      const end = buffer.indexOf(isData ? "\r\n.\r\n" : "\r\n");
      if (end < 0) return;
      const part = buffer.slice(0, end);
      buffer = buffer.slice(end + (isData ? 5 : 2));
      if (!isData) {
        handle(part);
        continue;
      }
      isData = false;
      mail.got.push(readMail(from, to, part));
      reply("250 taken");
    }
  });
}

function readMail(from: string, to: string[], raw: string): Mail {
  const at = raw.indexOf("\r\n\r\n");
  const head = raw.slice(0, at).replaceAll(/\r\n[ \t]/g, " ");
  const body = raw.slice(at + 4).replaceAll("\r\n", "\n");
  const isQuoted = /^content-transfer-encoding: quoted-printable/im.test(head);
  const text = isQuoted
    ? Buffer.from(
        body
          .replaceAll("=\n", "")
          .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        "latin1",
      ).toString("utf8")
    : body;
  return { from, to, subject: /^subject: (.*)$/im.exec(head)?.[1] ?? "", text, raw };
}
