// Announces open alerts on every page of their site: the newest with its remedy, and how many more there are.

import { Alert, Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { repairOf, whoRepairs } from "../../common/alertPlaces.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi } from "../../common/api/query.ts";
import { useMay, useSite } from "../../common/api/session.ts";
import { withLocalTimes } from "../../common/format/days.ts";
import { capitalize, withFullStop } from "../../common/format/sentence.ts";
import { TextLink } from "../../common/links.tsx";
import { useAllTexts } from "../../common/shownLanguage.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { frameText } from "../../messages/frame.ts";
import { serverText } from "../../messages/server.ts";

export function AlertBanner() {
  const site = useSite();
  const count = site?.health.openAlerts ?? 0;
  const { data } = useApi(
    "GET /sites/:site/alerts",
    { params: { site: site?.id ?? "" } },
    { enabled: count > 0, everyMs: 60_000 },
  );
  const nameOf = usePlatformName();
  const mayChange = useMay("admin", site?.id ?? null);
  const isOwner = useMay("owner", null);
  const newest = data?.open.toSorted((one, other) => other.beganAt - one.beganAt)[0];
  const hasTexts = useAllTexts(count > 0);
  if (!site || count === 0 || !newest || !hasTexts) return null;
  const repair = repairOf(newest, nameOf, { mayChange, isOwner });
  return (
    <Alert variant="light" color="red" icon={<TriangleAlert size={18} />} mb="lg" py="xs" maw={1280} mx="auto">
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ flex: "1 1 240px", minWidth: 0 }}>
          {newest.platform && (
            <>
              <PlatformMark id={newest.platform} name={nameOf(newest.platform)} />{" "}
            </>
          )}
          <b>{withFullStop(capitalize(serverText(newest.title)))}</b> {withLocalTimes(serverText(newest.whatToDo))}
          {!repair && ` ${whoRepairs(newest)}`}
        </Text>
        <Group gap="sm">
          {data.open.length > 1 && (
            <TextLink to={`/sites/${site.id}/settings/alerts`} fw={500}>
              {frameText.alerts.more(data.open.length - 1)}
            </TextLink>
          )}
          {repair && (
            <Button
              renderRoot={(props) => <Link to={`/sites/${site.id}/${repair.path}`} search={repair.search} {...props} />}
              size="compact-sm"
              color="red"
            >
              {repair.label}
            </Button>
          )}
        </Group>
      </Group>
    </Alert>
  );
}
