import { Button, Text } from "@mantine/core";
import { Card } from "../../../common/Page.tsx";
import { useSend } from "../../../common/api/query.ts";
import { useMay, useSite, useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { notify } from "../../../common/notices.tsx";
import { SettingsCard } from "../../../common/settings/SettingsCard.tsx";
import { NumberOrOffField } from "../../../common/settings/settingFields.tsx";
import { Loading, RequestError } from "../../../common/states.tsx";
import { Code, State } from "../../../common/values.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { KeyList } from "./KeyList.tsx";
import { RejectedRequests } from "./RejectedRequests.tsx";
import { useInboundAddress } from "./inboundCurl.ts";

export default function InboundKeys() {
  return (
    <ConfigurationPage tab="keys">
      <InboundSwitch />
      <KeyList />
      <SettingsCard
        title="Rate limit"
        about="Senders above the limit get 429 with the time to retry."
        fields={(form) => (
          <NumberOrOffField
            form={form}
            name="rate_limit"
            help="Maximum number of requests per key and minute. Leave empty for no limit."
          />
        )}
      />
      <RejectedRequests />
    </ConfigurationPage>
  );
}

/** Turns the inbound webhook of the site on and off. */
function InboundSwitch() {
  const id = useSiteId();
  const site = useSite();
  const mayChange = useMay("admin", id);
  const address = useInboundAddress();
  const send = useSend("PATCH /sites/:site/settings", {
    onDone: (_, { body }) =>
      notify(body.settings.inbound === "on" ? "Inbound webhook turned on." : "Inbound webhook turned off."),
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
          ? "Your servers send conversions to this address, each with its own key."
          : "Off: every sender gets 403, with any key. The first key of a site turns it on."
      }
      actions={
        <>
          <State of={site.inbound ? "on" : "off"} />
          {mayChange && site.inbound && (
            <ConfirmButton
              label="Turn off"
              size="compact-sm"
              question="Turn the inbound webhook off?"
              consequence="Senders get 403 immediately. Events sent while it is off are lost unless the sender retries later. Events accepted before are still delivered."
              confirm="Turn off"
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
              Turn on
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
          <RequestError error={send.error} />
        </>
      )}
    </Card>
  );
}
