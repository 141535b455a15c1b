// Says on every tab of a connection that it is not proven, or cannot send anything yet.

import { Alert, Button, Group, Text } from "@mantine/core";
import { CircleHelp, SlidersHorizontal } from "lucide-react";
import { useSend } from "../../../common/api/query.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import { withFullStop, type Connection } from "../connections.tsx";
import { withLabels, type Editor } from "./editor.ts";

export function ProofNotice({ editor }: { editor: Editor }) {
  const { site, platform, connection, mayChange } = editor;
  const prove = useSend("POST /sites/:site/connections/:connection/prove", {
    onDone: ({ proof }) =>
      notify(proof.state === "proven" ? `${platform.name} proved the connection.` : "Still not proven."),
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
          title={`Nothing can be sent to ${platform.name} yet`}
        >
          <Text size="sm">{sentence(withLabels(sendsNothing, platform))}</Text>
        </Alert>
      )}
      {proof.state === "unproven" && sendsNothing === null && (
        <Alert
          variant="light"
          color={proof.isCheckable ? "yellow" : "gray"}
          icon={<CircleHelp size={18} />}
          title="Saved, not proven"
        >
          <Group justify="space-between" gap="md">
            <Text size="sm" style={{ flex: 1, minWidth: 200 }}>
              {sentence(proof.reason ?? "")} {proof.isCheckable && <LastChecks proof={proof} />}
            </Text>
            {mayChange && proof.isCheckable && (
              <Button
                variant="default"
                loading={prove.isPending}
                onClick={() => prove.mutate({ params: { site, connection: connection.id } })}
              >
                Ask {platform.name} again
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
      Asked <Time at={checkedAt} />
      {provenAt !== null && (
        <>
          , last proven <Time at={provenAt} />
        </>
      )}
      .
    </span>
  );
}

const sentence = (text: string) => withFullStop(text.slice(0, 1).toUpperCase() + text.slice(1));

/** The notice after saving. */
export function savedText(what: string, { proof }: Connection): string {
  if (proof.state === "proven") return `${what} and proven.`;
  return `${what}, not proven: ${withFullStop(proof.reason ?? "")}`;
}
