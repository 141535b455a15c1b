import { BotsPage } from "../frame/SectionPage.tsx";
import { BotVisits } from "./BotVisits.tsx";
import { CheckVisit } from "./CheckVisit.tsx";

export default function Visits() {
  return (
    <BotsPage tab="visits">
      <BotVisits />
      <CheckVisit />
    </BotsPage>
  );
}
