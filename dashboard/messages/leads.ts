// The ladder of lead stages.

import { section } from "./catalogue.ts";
import { plural } from "./plural.ts";

export const leadsText = section("leads", {
  title: "Lead stages",
  about: "How many leads reached each stage, by their source, and how long they took from the stage before.",
  learn: "About lead stages",
  period: "Period",
  days: (days: number) => plural(days, { one: "Last day", other: "Last # days" }),
  stages: "Stages, from the first to the last",
  source: "Source",
  noSource: "Unknown source",
  after: (span: string) => `after ${span}`,
  wentBack: "Went back",
  none: "No lead stages yet",
  noneMore: "Send an event for each stage of a lead: lead, qualified_lead, closed_won, or the names of your CRM.",
  incomplete: "There are more stages than can be read at once. Only the newest are counted.",
  backTitle: "Leads that went back",
  backAbout: "A stage that a lead reaches again is not sent again if the event has the lead's id.",
  backFrom: "From",
  backTo: "Back to",
  backTime: "Time",
  backEvent: "Event",
});
