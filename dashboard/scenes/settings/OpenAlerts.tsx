import { Alert, Button, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CircleCheck, TriangleAlert } from "lucide-react";
import { repairOf, whoRepairs, type AlertLine } from "../../common/alertPlaces.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { Card } from "../../common/Page.tsx";
import type { ApiError } from "../../common/api/api.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { withLocalTimes } from "../../common/format/days.ts";
import { capitalize } from "../../common/format/sentence.ts";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { Empty, LoadState } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { settingsText } from "../../messages/settings.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { serverText } from "../../messages/server.ts";

export const channelName = (channel: string): string =>
  (settingsText.alerts.channels as Readonly<Record<string, string>>)[channel] ?? channel;

export function OpenAlerts({
  alerts,
  error,
  onRetry,
}: {
  alerts: readonly AlertLine[] | undefined;
  error: ApiError | null;
  onRetry: () => void;
}) {
  const site = useSiteId();
  const nameOf = usePlatformName();
  const mayChange = useMay("admin", site);
  const isOwner = useMay("owner", null);
  return (
    <Card title={settingsText.alerts.open} about={settingsText.alerts.aboutOpen} padded={false}>
      <LoadState of={{ data: alerts, error, refetch: onRetry }} rows={2} />
      {alerts?.length === 0 && (
        <Empty icon={CircleCheck} title={settingsText.alerts.noneOpen}>
          {settingsText.alerts.aboutNoneOpen}
        </Empty>
      )}
      <Stack gap="sm" px="md" pb={alerts?.length ? "md" : 0} aria-live="polite">
        {alerts?.map((alert) => {
          const repair = repairOf(alert, nameOf, { mayChange, isOwner });
          return (
            <Alert
              key={`${alert.kind} ${alert.subject}`}
              variant="light"
              color="red"
              icon={<TriangleAlert size={18} />}
              title={
                alert.platform ? (
                  <PlatformName id={alert.platform}>
                    <span>{capitalize(serverText(alert.title))}</span>
                  </PlatformName>
                ) : (
                  capitalize(serverText(alert.title))
                )
              }
            >
              <Stack gap={4}>
                <Text size="sm">{withLocalTimes(serverText(alert.text))}</Text>
                <Text size="sm">
                  <b>{settingsText.alerts.whatToDo}</b> {serverText(alert.whatToDo)}
                  {!repair && ` ${whoRepairs(alert)}`}
                </Text>
                <Text size="sm">
                  <RichText
                    text={settingsText.alerts.began}
                    tags={{
                      began: () => <Time at={alert.beganAt} />,
                      notified: () => <Time at={alert.notifiedAt} none={settingsText.alerts.notNotified} />,
                    }}
                  />
                </Text>
                {repair && (
                  <div>
                    <Button
                      renderRoot={(props) => <Link to={`/sites/${site}/${repair.path}`} search={repair.search} {...props} />}
                      size="compact-sm"
                      color="red"
                      mt={4}
                    >
                      {repair.label}
                    </Button>
                  </div>
                )}
                {alert.failed.map((one, i) => (
                  <Text key={i} size="sm">
                    {settingsText.alerts.failedChannel(channelName(one.channel), serverText(one.error))}
                  </Text>
                ))}
              </Stack>
            </Alert>
          );
        })}
      </Stack>
    </Card>
  );
}
