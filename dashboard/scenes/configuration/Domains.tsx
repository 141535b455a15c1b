import { Box } from "@mantine/core";
import { SettingsCard } from "../../common/SettingsCard.tsx";
import { ChoiceField } from "../../common/settingFields.tsx";
import { ConfigurationPage } from "./ConfigurationPage.tsx";
import { CopySettings } from "./CopySettings.tsx";
import { Hosts } from "./Hosts.tsx";
import { PointHere } from "./PointHere.tsx";
import { SiteName } from "./SiteName.tsx";

const zones = () =>
  ["UTC", ...Intl.supportedValuesOf("timeZone")].map((value) => ({
    value,
    label: value.replaceAll("_", " "),
  }));

export default function Domains() {
  return (
    <ConfigurationPage tab="domains">
      <Hosts />
      <PointHere />
      <SettingsCard
        title="Site"
        about="Its name in the dashboard and in alerts, and the time zone of its days."
        fields={(form) => {
          const now = form.value("time_zone");
          const all = zones();
          // A browser may not list a name that the relay knows.
          const data = all.some(({ value }) => value === now) ? all : [{ value: now, label: now }, ...all];
          return (
            <ChoiceField
              form={form}
              name="time_zone"
              help="The days of charts begin and end there, and times are shown in it."
              data={data}
            />
          );
        }}
      >
        <Box mt="lg">
          <SiteName />
        </Box>
      </SettingsCard>
      <CopySettings />
    </ConfigurationPage>
  );
}
