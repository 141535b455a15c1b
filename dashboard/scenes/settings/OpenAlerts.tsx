import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CircleCheck, TriangleAlert } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import type { ApiError } from "../../common/api/api.ts";
import { useSiteId } from "../../common/api/session.ts";
import { capitalize } from "../../common/format/format.ts";
import { Empty, LoadError, Loading } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import type { AlertLine } from "./Alerts.tsx";

/** The page to check first, by kind of alert. */
const places: Record<AlertLine["kind"], [path: string, label: string]> = {
  "needs reconnection": ["integrations", "Go to platforms"],
  "success rate": ["integrations/log", "Go to the sync log"],
  silence: ["configuration/keys", "Go to inbound keys"],
  webhook: ["integrations/webhooks", "Go to webhooks"],
  "wrong keys": ["configuration/keys", "Go to inbound keys"],
  queue: ["integrations/log", "Go to the sync log"],
  host: ["configuration/domains", "Go to domains"],
  "damaged data": ["configuration", "Go to the configuration"],
  "not counted": ["integrations/log", "Go to the sync log"],
};

/** Alerts about a connection link to its platform's page. */
function placeOf({ kind, platform }: AlertLine): [path: string, label: string] {
  return platform === null ? places[kind] : [`integrations/${platform}`, "Go to the platform"];
}

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
  return (
    <Card title="Open alerts" about="Cleancast checks once a minute." padded={false}>
      {error && <LoadError error={error} onRetry={onRetry} />}
      {!alerts && !error && <Loading rows={2} />}
      {alerts?.length === 0 && (
        <Empty icon={CircleCheck} title="No open alerts">
          Expired tokens, failing deliveries, unusual silence and wrong keys appear here.
        </Empty>
      )}
      <Stack gap="sm" px="md" pb={alerts?.length ? "md" : 0} aria-live="polite">
        {alerts?.map((alert) => {
          const [path, label] = placeOf(alert);
          return (
            <Alert
              key={`${alert.kind} ${alert.subject}`}
              variant="light"
              color="red"
              icon={<TriangleAlert size={18} />}
              title={capitalize(alert.title)}
            >
              <Stack gap={4}>
                <Text size="sm">{alert.text}</Text>
                <Text size="sm">
                  <b>What to do:</b> {alert.whatToDo}{" "}
                  <Anchor component={Link} to={`/sites/${site}/${path}`} size="sm" underline="always">
                    {label}
                  </Anchor>
                </Text>
                <Text size="sm">
                  Began <Time at={alert.beganAt} />. Last notification:{" "}
                  <Time at={alert.notifiedAt} none="none yet" />.
                </Text>
                {alert.failed.map((one) => (
                  <Text key={one.channel} size="sm">
                    The {one.channel} could not be reached: {one.error}
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
