import { SettingsCard } from "../../common/SettingsCard.tsx";
import { NumberOrOffField } from "../../common/settingFields.tsx";
import { ConfigurationPage } from "./ConfigurationPage.tsx";
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
        about="A sender that goes beyond it gets 429 and is told when to try again."
        fields={(form) => (
          <NumberOrOffField
            form={form}
            name="rate_limit"
            help="How many requests each key may send in a minute. Empty is no limit."
          />
        )}
      />
      <RefusedCalls />
    </ConfigurationPage>
  );
}
