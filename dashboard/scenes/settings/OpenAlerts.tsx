import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CircleCheck, TriangleAlert } from "lucide-react";
import type { ApiError } from "../../common/api.ts";
import { Card } from "../../common/Page.tsx";
import { useSiteId } from "../../common/session.tsx";
import { Empty, Fault, Loading } from "../../common/states.tsx";
import { When } from "../../common/values.tsx";
import type { AlertLine } from "./Alerts.tsx";

const sentence = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Where one looks first. */
const places: Record<AlertLine["kind"], [path: string, label: string]> = {
  "needs reconnection": ["integrations", "To the platforms"],
  "success rate": ["integrations/log", "To the sync log"],
  silence: ["configuration/keys", "To the inbound keys"],
  webhook: ["integrations/webhooks", "To the webhooks"],
  "wrong keys": ["configuration/keys", "To the inbound keys"],
  queue: ["integrations/log", "To the sync log"],
  host: ["configuration/domains", "To the domains"],
};

/** What is about one connection is put right on its platform's page. */
function placeOf({ kind, platform }: AlertLine): [path: string, label: string] {
  return platform === null ? places[kind] : [`integrations/${platform}`, "To the platform"];
}

export function OpenAlerts({
  alerts,
  error,
  again,
}: {
  alerts: readonly AlertLine[] | undefined;
  error: ApiError | null;
  again: () => void;
}) {
  const site = useSiteId();
  return (
    <Card title="Open alerts" about="The relay looks once a minute for what needs a person." padded={false}>
      {error && <Fault error={error} again={again} />}
      {!alerts && !error && <Loading rows={2} />}
      {alerts?.length === 0 && (
        <Empty icon={CircleCheck} title="Nothing needs you">
          A dead token, failing deliveries, unusual silence or wrong keys would stand here.
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
              title={sentence(alert.title)}
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
                  Noticed <When at={alert.beganAt} />. Notified{" "}
                  <When at={alert.notifiedAt} none="nobody yet" />.
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
