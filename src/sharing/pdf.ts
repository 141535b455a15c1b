// Draws a report as PDF, on as many A4 pages as it needs. Its texts are ours and names of hosts, all of which the standard fonts have, so
// no font is embedded and a file has a few kilobytes.

import { PDFDocument, rgb, StandardFonts, type PDFFont, type PDFPage } from "@cantoo/pdf-lib";
import type { ReportLanguage } from "../kernel/text.ts";
import { isLoss, type CauseCount, type SharedConnection, type SharedReport } from "./report.ts";
import { summarize, writerFor, type Writer } from "./sentences.ts";

const [width, height] = [595.28, 841.89];
const margin = 48;
const inner = width - 2 * margin;

const ink = rgb(0.1, 0.12, 0.16);
const quiet = rgb(0.42, 0.45, 0.5);
const faint = rgb(0.91, 0.92, 0.94);
const accent = rgb(0.263, 0.325, 0.78);
const lost = rgb(0.82, 0.35, 0.3);

type Drawn = { size?: number; font?: PDFFont; color?: ReturnType<typeof rgb> };

export async function makePdf(
  report: SharedReport,
  { language, madeAt }: { language: ReportLanguage; madeAt: number },
): Promise<Buffer> {
  const document = await PDFDocument.create();
  const write = writerFor(language, report.timeZone);
  const { texts } = write;
  const title = report.orders === null ? texts.report.titleOfEvents : texts.report.title;
  document.setTitle(`${report.host}: ${title}`);
  document.setLanguage(texts.locale);
  document.setProducer(texts.report.by);
  document.setCreator(texts.report.by);
  document.setCreationDate(new Date(madeAt));
  document.setModificationDate(new Date(madeAt));
  const sheet = createSheet(
    document,
    await document.embedFont(StandardFonts.Helvetica),
    await document.embedFont(StandardFonts.HelveticaBold),
  );
  sheet.line(report.host, { size: 11, color: quiet });
  sheet.space(6);
  sheet.line(title, { size: 22, font: sheet.bold });
  sheet.space(4);
  sheet.line(write.period(report), { size: 11, color: quiet });
  sheet.space(18);
  for (const sentence of summarize(report, write)) sheet.paragraph(sentence, { size: 12 });
  sheet.space(16);
  drawTotals(sheet, report, write);
  sheet.space(6);
  drawCauses(sheet, report.causes, write);
  sheet.space(26);
  sheet.line(texts.report.platforms, { size: 14, font: sheet.bold });
  sheet.space(10);
  if (report.connections.length === 0) sheet.line(texts.report.noPlatform, { size: 11, color: quiet });
  for (const connection of report.connections) drawConnection(sheet, connection, write);
  drawFoot(document, sheet, texts.report.made(write.time(madeAt)), write);
  return Buffer.from(await document.save());
}

type Sheet = ReturnType<typeof createSheet>;

/** A page with a place for the next line; a new page begins where it is full. */
function createSheet(document: PDFDocument, regular: PDFFont, bold: PDFFont) {
  let page = document.addPage([width, height]);
  let y = height - margin;
  const room = (needed: number) => {
    if (y - needed >= margin + 24) return;
    page = document.addPage([width, height]);
    y = height - margin;
  };
  const text = (at: PDFPage, written: string, x: number, base: number, { size = 10, font = regular, color = ink }: Drawn = {}) =>
    at.drawText(printable(written, font), { x, y: base, size, font, color });
  return {
    regular,
    bold,
    room,
    space: (points: number) => void (y -= points),
    /** Writes below the last line. */
    line(written: string, drawn: Drawn = {}) {
      const { size = 10 } = drawn;
      room(size * 1.4);
      y -= size * 1.2;
      text(page, written, margin, y, drawn);
      y -= size * 0.2;
    },
    /** Writes on the last line, at the right. */
    right(written: string, drawn: Drawn = {}) {
      const { size = 10, font = regular } = drawn;
      text(page, written, width - margin - font.widthOfTextAtSize(printable(written, font), size), y + size * 0.2, drawn);
    },
    /** Breaks a text between words. */
    paragraph(written: string, drawn: Drawn = {}) {
      const { size = 10, font = regular } = drawn;
      let rest = "";
      for (const word of printable(written, font).split(" ")) {
        const longer = rest === "" ? word : `${rest} ${word}`;
        if (font.widthOfTextAtSize(longer, size) <= inner) rest = longer;
        else {
          this.line(rest, drawn);
          rest = word;
        }
      }
      this.line(rest, drawn);
    },
    /** Writes columns of a small label and a large number. */
    numbers(cells: readonly { label: string; value: string; hint: string }[]) {
      room(64);
      const column = inner / Math.max(cells.length, 1);
      for (const [i, { label, value, hint }] of cells.entries()) {
        const x = margin + i * column;
        const size = Math.min(24, (24 * (column - 12)) / Math.max(bold.widthOfTextAtSize(printable(value, bold), 24), 1));
        text(page, label, x, y - 10, { color: quiet });
        text(page, value, x, y - 36, { size, font: bold });
        text(page, hint, x, y - 52, { size: 9, color: quiet });
      }
      y -= 56;
    },
    /** A bar of two parts, as shares of its width. */
    bar(through: number, missing: number) {
      room(14);
      y -= 10;
      page.drawRectangle({ x: margin, y, width: inner, height: 7, color: faint });
      page.drawRectangle({ x: margin, y, width: inner * through, height: 7, color: accent });
      if (missing > 0) page.drawRectangle({ x: margin + inner * through, y, width: inner * missing, height: 7, color: lost });
      y -= 4;
    },
    foot: (at: PDFPage, written: string, side: "left" | "right") => {
      const size = 8;
      const x = side === "left" ? margin : width - margin - regular.widthOfTextAtSize(printable(written, regular), size);
      text(at, written, x, margin - 16, { size, color: quiet });
    },
  };
}

function drawTotals(sheet: Sheet, report: SharedReport, write: Writer): void {
  const { texts, count, percent, moneys } = write;
  const { orders, received, conversions, values } = report;
  sheet.numbers([
    ...(orders === null ? [] : [{ label: texts.report.orders, value: count(orders), hint: texts.report.receivedHint }]),
    { label: texts.report.received, value: count(received), hint: orders === null ? "" : percent(received, orders) },
    {
      label: texts.report.conversions,
      value: count(conversions),
      hint: received === 0 ? "" : percent(conversions, received),
    },
    ...(values.length > 0 ? [{ label: texts.report.worth, value: moneys(values, 1), hint: moneys(values.slice(1, 3)) }] : []),
  ]);
}

function drawConnection(sheet: Sheet, connection: SharedConnection, write: Writer): void {
  const { texts, count, percent, moneys } = write;
  const { name, accepted, deliverable, confirmed, worth, missed, causes } = connection;
  // A platform is not torn apart.
  sheet.room(48 + 15 * causes.length);
  sheet.space(6);
  sheet.line(name, { size: 11, font: sheet.bold });
  sheet.right(
    deliverable === 0 ? "–" : `${texts.report.of(count(accepted), count(deliverable))}  ·  ${percent(accepted, deliverable)}`,
    { size: 11 },
  );
  sheet.bar(deliverable === 0 ? 0 : accepted / deliverable, deliverable === 0 ? 0 : (deliverable - accepted) / deliverable);
  const facts = [
    ...(worth.length > 0 ? [`${texts.report.money}: ${moneys(worth)}`] : []),
    ...(missed.length > 0 ? [`${texts.report.missed}: ${moneys(missed)}`] : []),
    ...(confirmed === null ? [] : [texts.report.confirmed(count(confirmed))]),
  ];
  if (facts.length > 0) sheet.paragraph(facts.join("  ·  "), { size: 9.5 });
  drawCauses(sheet, causes, write);
  sheet.space(8);
}

function drawCauses(sheet: Sheet, causes: readonly CauseCount[], write: Writer): void {
  for (const one of causes)
    sheet.paragraph(`${write.count(one.count)}  ${write.texts.causes[one.cause]}`, {
      size: 9.5,
      color: isLoss(one) ? lost : quiet,
    });
}

function drawFoot(document: PDFDocument, sheet: Sheet, made: string, { texts }: Writer): void {
  const pages = document.getPages();
  for (const [i, page] of pages.entries()) {
    sheet.foot(page, made, "left");
    if (pages.length > 1) sheet.foot(page, texts.report.page(i + 1, pages.length), "right");
  }
}

/** The narrow spaces of number formats are no part of the standard fonts; nor are the letters of other scripts. */
function printable(written: string, font: PDFFont): string {
  const known = new Set(font.getCharacterSet());
  return written
    .replaceAll(/[\u00a0\u2009\u202f]/g, " ")
    .replaceAll(/./gu, (sign) => (known.has(sign.codePointAt(0) ?? 0) ? sign : "?"));
}
