// Says on every tab of a connection that it is not verified, or cannot send anything yet.

import { Alert, Button, Group, Text } from "@mantine/core";
import { CircleHelp, SlidersHorizontal } from "lucide-react";
import { useSend } from "../../../common/api/query.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import { sentence, withFullStop } from "../../../common/format/sentence.ts";
import { RepairButton } from "../RepairButton.tsx";
import { repairOf } from "../repairs.ts";
import type { Connection } from "../connections.tsx";
import { withLabels, type Editor } from "./editor.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { serverText } from "../../../messages/server.ts";

export function VerificationNotice({ editor }: { editor: Editor }) {
  const { site, platform, connection, mayChange } = editor;
  const verify = useSend("POST /sites/:site/connections/:connection/verify", {
    onDone: ({ verification }) =>
      notify(
        verification.state === "verified"
          ? integrationsText.verification.verified(platform.name)
          : integrationsText.verification.stillNot,
      ),
  });
  // The credentials are known to be refused.
  if (!connection || connection.state === "needs reconnection") return null;
  const { verification, sendsNothing } = connection;
  return (
    <>
      {sendsNothing !== null && (
        <Alert
          variant="light"
          color="yellow"
          icon={<SlidersHorizontal size={18} />}
          title={integrationsText.verification.nothingSent(platform.name)}
        >
          <Group justify="space-between" gap="md">
            <Text size="sm" style={{ flex: 1, minWidth: 200 }}>
              {sentence(withLabels(serverText(sendsNothing), platform))}
            </Text>
            <RepairButton
              site={site}
              repair={repairOf(sendsNothing, {
                platform: platform.id,
                connection: connection.id,
                name: platform.name,
              })}
            />
          </Group>
        </Alert>
      )}
      {verification.state === "unverified" && sendsNothing === null && (
        <Alert
          variant="light"
          color={verification.isCheckable ? "yellow" : "gray"}
          icon={<CircleHelp size={18} />}
          title={integrationsText.verification.title}
        >
          <Group justify="space-between" gap="md">
            <Text size="sm" style={{ flex: 1, minWidth: 200 }}>
              {sentence(serverText(verification.reason ?? ""))}{" "}
              {verification.isCheckable && <LastChecks verification={verification} />}
            </Text>
            {mayChange && verification.isCheckable && (
              <Button
                variant="default"
                loading={verify.isPending}
                onClick={() => verify.mutate({ params: { site, connection: connection.id } })}
              >
                {integrationsText.verification.ask(platform.name)}
              </Button>
            )}
          </Group>
          <RequestError error={verify.error} />
        </Alert>
      )}
    </>
  );
}

function LastChecks({ verification: { checkedAt, verifiedAt } }: Pick<Connection, "verification">) {
  if (checkedAt === null) return null;
  return (
    <span className="cc-quiet">
      <RichText
        text={verifiedAt === null ? integrationsText.verification.asked : integrationsText.verification.askedAndVerified}
        tags={{ checked: () => <Time at={checkedAt} />, verified: () => <Time at={verifiedAt} /> }}
      />
    </span>
  );
}

/** The notice after saving. */
export function savedText(what: string, { verification }: Connection): string {
  if (verification.state === "verified") return integrationsText.page.done.verified(what);
  return integrationsText.page.done.notVerified(what, withFullStop(serverText(verification.reason ?? "")));
}
