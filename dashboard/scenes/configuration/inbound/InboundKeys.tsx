import { SettingsCard } from "../../../common/settings/SettingsCard.tsx";
import { NumberOrOffField } from "../../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { InboundSwitch } from "./InboundSwitch.tsx";
import { KeyList } from "./KeyList.tsx";
import { RefusedCalls } from "./RefusedCalls.tsx";

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
      <RefusedCalls />
    </ConfigurationPage>
  );
}
