// Whether the site takes events at all.

import { Button, Text } from "@mantine/core";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { Card } from "../../common/Page.tsx";
import { useSend } from "../../common/query.ts";
import { useMay, useSite, useSiteId } from "../../common/session.tsx";
import { Loading, Refused } from "../../common/states.tsx";
import { Code, State } from "../../common/values.tsx";
import { useInboundAddress } from "./inboundCurl.ts";

export function InboundSwitch() {
  const id = useSiteId();
  const site = useSite();
  const mayChange = useMay("admin", id);
  const address = useInboundAddress();
  const send = useSend("PATCH /sites/:site/settings", {
    onDone: (_, { body }) =>
      told(
        body.settings.inbound === "on" ? "The inbound webhook takes events." : "The inbound webhook is off.",
      ),
  });
  const turn = (inbound: "on" | "off") =>
    send.mutateAsync({ params: { site: id }, body: { settings: { inbound } } });
  if (!site)
    return (
      <Card title="Inbound webhook">
        <Loading rows={1} />
      </Card>
    );
  return (
    <Card
      title="Inbound webhook"
      about={
        site.inbound
          ? "Your servers send conversions here, each with its own key."
          : "It is off: every sender gets 403, whatever its key. The first key of a site switches it on."
      }
      actions={
        <>
          <State of={site.inbound ? "on" : "off"} />
          {mayChange && site.inbound && (
            <AskButton
              label="Switch off"
              size="compact-sm"
              question="Switch the inbound webhook off?"
              consequence="Senders get 403 at once. What they report while it is off is lost, unless they send it again later. What was accepted before is still delivered."
              confirm="Switch off"
              onConfirm={() => turn("off")}
              isBusy={send.isPending}
              error={send.error}
            />
          )}
          {mayChange && !site.inbound && (
            <Button
              size="compact-sm"
              loading={send.isPending}
              onClick={() => void turn("on").catch(() => {})}
            >
              Switch on
            </Button>
          )}
        </>
      }
    >
      {site.inbound ? (
        <Code label="address">{`POST ${address}`}</Code>
      ) : (
        <>
          <Text size="sm" c="dimmed">
            Address: POST {address}
          </Text>
          <Refused error={send.error} />
        </>
      )}
    </Card>
  );
}
