import { Button, Text } from "@mantine/core";
import { Card } from "../../../common/Page.tsx";
import { useSend } from "../../../common/api/query.ts";
import { useMay, useSite, useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { notify } from "../../../common/notices.tsx";
import { SettingsCard, SiteSettings } from "../../../common/settings/SettingsCard.tsx";
import { NumberOrOffField } from "../../../common/settings/settingFields.tsx";
import { Loading, RequestError } from "../../../common/states.tsx";
import { Code, State } from "../../../common/values.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { KeyList } from "./KeyList.tsx";
import { RejectedRequests } from "./RejectedRequests.tsx";
import { useInboundAddress } from "./inboundSamples.ts";
import { configurationText } from "../../../messages/configuration.ts";

export default function InboundKeys() {
  return (
    <ConfigurationPage tab="keys">
      <InboundSwitch />
      <KeyList />
      <SiteSettings>
        <SettingsCard
          title={configurationText.inbound.rateLimit}
          about={configurationText.inbound.aboutRateLimit}
          fields={(form) => <NumberOrOffField form={form} name="rate_limit" help={configurationText.inbound.limit} />}
        />
      </SiteSettings>
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
      notify(body.settings.inbound === "on" ? configurationText.inbound.turnedOn : configurationText.inbound.turnedOff),
  });
  const turn = (inbound: "on" | "off") => send.mutateAsync({ params: { site: id }, body: { settings: { inbound } } });
  if (!site)
    return (
      <Card title={configurationText.inbound.title}>
        <Loading rows={1} />
      </Card>
    );
  return (
    <Card
      title={configurationText.inbound.title}
      about={site.inbound ? configurationText.inbound.isOn : configurationText.inbound.isOff}
      actions={
        <>
          <State of={site.inbound ? "on" : "off"} />
          {mayChange && site.inbound && (
            <ConfirmButton
              label={configurationText.inbound.turnOff}
              size="compact-sm"
              question={configurationText.inbound.turnOffQuestion}
              consequence={configurationText.inbound.turnOffConsequence}
              confirm={configurationText.inbound.turnOff}
              onConfirm={() => turn("off")}
              of={send}
            />
          )}
          {mayChange && !site.inbound && (
            <Button size="compact-sm" loading={send.isPending} onClick={() => void turn("on").catch(() => {})}>
              {configurationText.inbound.turnOn}
            </Button>
          )}
        </>
      }
    >
      {site.inbound ? (
        <Code label={configurationText.inbound.address}>{`POST ${address}`}</Code>
      ) : (
        <>
          <Text size="sm" c="dimmed">
            {configurationText.inbound.addressWhileOff(address)}
          </Text>
          <RequestError error={send.error} />
        </>
      )}
    </Card>
  );
}
