import type { Example } from "../../example.ts";

const boundary = "------------------------8d1a";
const part = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const rawRequest = JSON.stringify({
  slug: "submit/1",
  q3_name: { first: "Ada", last: "Lovelace" },
  q4_email: "ada@example.com",
  q7_gclid: "Cj0-1",
});

export const examples: readonly Example[] = [
  {
    name: "answers of a form",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: `${part("formID", "1")}${part("submissionID", "5500000001")}${part("rawRequest", rawRequest)}--${boundary}--\r\n`,
    outcomes: [
      {
        is: "conversion",
        deliveryId: "5500000001",
        fields: {
          event: "lead",
          email: "ada@example.com",
          firstName: "Ada",
          lastName: "Lovelace",
          orderId: "5500000001",
          clickIds: { gclid: "Cj0-1" },
        },
      },
    ],
  },
];
