import type { Translation } from "../catalogue.ts";
import type { leadsText } from "../leads.ts";
import { plural } from "../plural.ts";

export const leads: Translation<typeof leadsText> = {
  title: "Lead-Stufen",
  about: "Wie viele Leads jede Stufe erreicht haben, nach ihrer Quelle, und wie lange sie von der Stufe davor brauchten.",
  learn: "Über Lead-Stufen",
  period: "Zeitraum",
  days: (days: number) => plural(days, { one: "Letzter Tag", other: "Letzte # Tage" }),
  stages: "Stufen, von der ersten bis zur letzten",
  source: "Quelle",
  noSource: "Unbekannte Quelle",
  after: (span: string) => `nach ${span}`,
  wentBack: "Zurückgegangen",
  none: "Noch keine Lead-Stufen",
  noneMore: "Senden Sie für jede Stufe eines Leads ein Ereignis: lead, qualified_lead, closed_won, oder die Namen Ihres CRM.",
  incomplete: "Es gibt mehr Stufen, als auf einmal gelesen werden können. Nur die neuesten sind gezählt.",
  backTitle: "Zurückgegangene Leads",
  backAbout:
    "Eine Stufe, die ein Lead noch einmal erreicht, wird nicht noch einmal gesendet, wenn das Ereignis die ID des Leads hat.",
  backFrom: "Von",
  backTo: "Zurück auf",
  backTime: "Zeit",
  backEvent: "Ereignis",
};
