import { BotsPage } from "../frame/SectionPage.tsx";
import { BotVisits } from "./BotVisits.tsx";
import { CheckVisit } from "./CheckVisit.tsx";
import { VisitsOverTime } from "./VisitsOverTime.tsx";

export default function Visits() {
  return (
    <BotsPage tab="visits">
      <VisitsOverTime />
      <BotVisits />
      <CheckVisit />
    </BotsPage>
  );
}
