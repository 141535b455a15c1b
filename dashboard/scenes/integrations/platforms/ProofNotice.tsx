// Says on every tab of a connection that it is not proven, or cannot send anything yet.

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

export function ProofNotice({ editor }: { editor: Editor }) {
  const { site, platform, connection, mayChange } = editor;
  const prove = useSend("POST /sites/:site/connections/:connection/prove", {
    onDone: ({ proof }) =>
      notify(proof.state === "proven" ? integrationsText.proof.proven(platform.name) : integrationsText.proof.stillNot),
  });
  // The credentials are known to be refused.
  if (!connection || connection.state === "needs reconnection") return null;
  const { proof, sendsNothing } = connection;
  return (
    <>
      {sendsNothing !== null && (
        <Alert
          variant="light"
          color="yellow"
          icon={<SlidersHorizontal size={18} />}
          title={integrationsText.proof.nothingSent(platform.name)}
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
      {proof.state === "unproven" && sendsNothing === null && (
        <Alert
          variant="light"
          color={proof.isCheckable ? "yellow" : "gray"}
          icon={<CircleHelp size={18} />}
          title={integrationsText.proof.title}
        >
          <Group justify="space-between" gap="md">
            <Text size="sm" style={{ flex: 1, minWidth: 200 }}>
              {sentence(serverText(proof.reason ?? ""))} {proof.isCheckable && <LastChecks proof={proof} />}
            </Text>
            {mayChange && proof.isCheckable && (
              <Button
                variant="default"
                loading={prove.isPending}
                onClick={() => prove.mutate({ params: { site, connection: connection.id } })}
              >
                {integrationsText.proof.ask(platform.name)}
              </Button>
            )}
          </Group>
          <RequestError error={prove.error} />
        </Alert>
      )}
    </>
  );
}

function LastChecks({ proof: { checkedAt, provenAt } }: Pick<Connection, "proof">) {
  if (checkedAt === null) return null;
  return (
    <span className="cc-quiet">
      <RichText
        text={provenAt === null ? integrationsText.proof.asked : integrationsText.proof.askedAndProven}
        tags={{ checked: () => <Time at={checkedAt} />, proven: () => <Time at={provenAt} /> }}
      />
    </span>
  );
}

/** The notice after saving. */
export function savedText(what: string, { proof }: Connection): string {
  if (proof.state === "proven") return integrationsText.page.done.proven(what);
  return integrationsText.page.done.notProven(what, withFullStop(serverText(proof.reason ?? "")));
}
