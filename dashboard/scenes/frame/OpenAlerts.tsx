// The open alerts of the site in the frame: a list behind the bell, and a banner on the overview and on the page that repairs one.

import { Alert, Anchor, Box, Button, FocusTrap, Group, Stack, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link, useLocation } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { dayMs } from "../../../src/kernel/time.ts";
import { isShownByPage, repairOf, whoRepairs, type AlertLine } from "../../common/alertPlaces.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi } from "../../common/api/query.ts";
import { useMay, type Site } from "../../common/api/session.ts";
import { useNow } from "../../common/format/clock.ts";
import { withLocalTimes } from "../../common/format/days.ts";
import { capitalize, withFullStop } from "../../common/format/sentence.ts";
import { TextLink } from "../../common/links.tsx";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { LoadState } from "../../common/states.tsx";
import { guardText } from "../../messages/guard.ts";
import { serverText } from "../../messages/server.ts";

function useOpenAlerts(site: string) {
  const alerts = useApi("GET /sites/:site/alerts", { params: { site } }, { everyMs: 60_000 });
  return { ...alerts, open: alerts.data?.open.toSorted((one, other) => other.beganAt - one.beganAt) };
}

const nameOfAlert = ({ kind, subject }: AlertLine) => `${kind} ${subject}`;

/** The alerts whose banner is muted in this browser, with the time until then. */
function useMuted(site: string) {
  const now = useNow();
  const [all, setAll] = useLocalStorage<Record<string, number>>({
    key: `cleancast-muted ${site}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const muted = Object.fromEntries(Object.entries(all).filter(([, until]) => until > now));
  return {
    isMuted: (alert: AlertLine) => nameOfAlert(alert) in muted,
    mute: (alert: AlertLine) => setAll({ ...muted, [nameOfAlert(alert)]: Date.now() + dayMs }),
    unmute: ({ kind, subject }: AlertLine) => {
      const { [`${kind} ${subject}`]: _, ...others } = muted;
      setAll(others);
    },
  };
}

function useRepair(site: string) {
  const mayChange = useMay("admin", site);
  const isOwner = useMay("owner", null);
  const nameOf = usePlatformName();
  return (alert: AlertLine) => repairOf(alert, nameOf, { mayChange, isOwner });
}

/** The list behind the bell. It takes the focus itself: the popover is open before its code is loaded. */
export function AlertList({ site, onClose }: { site: Site; onClose: () => void }) {
  const alerts = useOpenAlerts(site.id);
  const repairFor = useRepair(site.id);
  const { isMuted, unmute } = useMuted(site.id);
  return (
    <FocusTrap>
      <Stack gap="sm" w={360} maw="calc(100vw - 48px)">
        <LoadState of={alerts} rows={2} />
        <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: "none", maxHeight: 360, overflowY: "auto" }}>
          {alerts.open?.map((alert) => {
            const repair = repairFor(alert);
            return (
              <li key={nameOfAlert(alert)}>
                <Group gap={6} wrap="nowrap" align="flex-start">
                  {alert.platform && <PlatformMark id={alert.platform} />}
                  <Box miw={0}>
                    <Text size="sm">{withFullStop(capitalize(serverText(alert.title)))}</Text>
                    <Group gap="sm">
                      {repair ? (
                        <TextLink to={`/sites/${site.id}/${repair.path}`} search={repair.search} onClick={onClose}>
                          {repair.label}
                        </TextLink>
                      ) : (
                        <Text size="sm" c="dimmed">
                          {whoRepairs(alert)}
                        </Text>
                      )}
                      {isMuted(alert) && (
                        <Anchor component="button" type="button" size="sm" onClick={() => unmute(alert)}>
                          {guardText.alerts.unmute}
                        </Anchor>
                      )}
                    </Group>
                  </Box>
                </Group>
              </li>
            );
          })}
        </Stack>
        <TextLink to={`/sites/${site.id}/settings/alerts`} onClick={onClose}>
          {guardText.alerts.all}
        </TextLink>
      </Stack>
    </FocusTrap>
  );
}

/** The newest alert that belongs to this page; the overview shows any. */
export function AlertBanner({ site }: { site: Site }) {
  const { open } = useOpenAlerts(site.id);
  const repairFor = useRepair(site.id);
  const { isMuted, mute } = useMuted(site.id);
  const page = useLocation({ select: ({ pathname }) => pathname.replace(`/sites/${site.id}/`, "") });
  const belongsHere = (alert: AlertLine) => page === "overview" || (page === repairFor(alert)?.path && !isShownByPage(alert));
  const shown = open?.find((alert) => !isMuted(alert) && belongsHere(alert));
  if (!shown) return null;
  const repair = repairFor(shown);
  return (
    <Alert variant="light" color="red" icon={<TriangleAlert size={18} />} mb="lg" py="xs" maw={1280} mx="auto">
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ flex: "1 1 240px", minWidth: 0 }}>
          {shown.platform && (
            <>
              <PlatformMark id={shown.platform} />{" "}
            </>
          )}
          <b>{withFullStop(capitalize(serverText(shown.title)))}</b> {withLocalTimes(serverText(shown.whatToDo))}
          {!repair && ` ${whoRepairs(shown)}`}
        </Text>
        {/* On a phone the repair is above. */}
        <Group gap="sm" wrap="wrap-reverse">
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => mute(shown)}>
            {guardText.alerts.mute}
          </Button>
          {/* On the page that repairs it, the button would lead nowhere. */}
          {repair && page !== repair.path && (
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
