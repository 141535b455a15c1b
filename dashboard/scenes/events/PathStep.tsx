// The visits that led to an event, as a small timeline.

import { Box, Text } from "@mantine/core";
import { Route } from "lucide-react";
import { Fragment } from "react";
import { ageText } from "../../common/format/times.ts";
import { Time } from "../../common/values.tsx";
import { eventsText } from "../../messages/events.ts";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { Step } from "./Step.tsx";

type PathVisit = EventTrace["attribution"]["path"][number];

export function PathStep({ trace }: { trace: EventTrace }) {
  const { path } = trace.attribution;
  if (path.length === 0) return null;
  const texts = eventsText.path;
  return (
    <Step icon={Route} title={texts.title}>
      <Text size="sm" c="dimmed">
        {texts.about}
      </Text>
      <Box component="ol" m={0} mt="xs" p={0} className="cc-path">
        {path.map((visit, i) => (
          <Fragment key={visit.at}>
            <Stop title={titleOf(visit)} at={visit.at} isTouch={visit.source !== null} detail={detailOf(visit)} />
            <li className="cc-path-span">{texts.later(ageText(Math.max(0, (path[i + 1]?.at ?? trace.time) - visit.at)))}</li>
          </Fragment>
        ))}
        <Stop title={trace.event} at={trace.time} isTouch detail={trace.orderId ?? ""} />
      </Box>
    </Step>
  );
}

function Stop({ title, at, isTouch, detail }: { title: string; at: number; isTouch: boolean; detail: string }) {
  return (
    <li className="cc-path-stop" data-touch={isTouch || undefined}>
      <Text span size="sm" fw={500}>
        {title}
      </Text>{" "}
      <Text span size="sm" c="dimmed">
        {detail && <>{detail} · </>}
        <Time at={at} />
      </Text>
    </li>
  );
}

function titleOf({ source, clickId }: PathVisit): string {
  if (source === null) return eventsText.path.visit;
  return clickId === null ? eventsText.path.visitFrom(source) : eventsText.path.click(source);
}

const detailOf = ({ campaign, hasForm }: PathVisit) =>
  [campaign, hasForm ? eventsText.path.form : null].filter((text) => text !== null).join(" · ");
