// The settings of a source, as its kind declares them. The fields of a mapping have a tab of their own.

import { Stack, Text, TextInput } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { Card } from "../../common/Page.tsx";
import { fieldError } from "../../common/forms/faults.ts";
import { commonText } from "../../messages/common.ts";
import { sourcesText } from "../../messages/sources.ts";
import { KindField } from "./KindField.tsx";
import { keepSetting } from "./FieldPicker.tsx";
import { isOfMapping } from "./Mapping.tsx";
import { SaveBar } from "./SaveBar.tsx";
import { useDraft } from "./draft.ts";
import type { Kind } from "./kinds.ts";
import type { Source } from "./parts.tsx";

export function SettingsTab({ site, source, kind, mayChange }: { site: string; source: Source; kind: Kind; mayChange: boolean }) {
  const draft = useDraft(site, source, kind);
  const shown = kind.settings.filter((one) => !isOfMapping(kind, one) && one.name !== keepSetting);
  return (
    <Form noValidate onSubmit={draft.save}>
      <Stack gap="lg" maw={720}>
        <Card title={sourcesText.settings.title} about={mayChange ? undefined : commonText.adminsOnly}>
          <Stack gap="lg">
            <TextInput
              label={sourcesText.form.name}
              description={sourcesText.form.aboutName}
              inputWrapperOrder={["label", "input", "error", "description"]}
              maxLength={100}
              autoComplete="off"
              disabled={!mayChange}
              value={draft.name}
              error={fieldError(draft.error, "name")}
              onChange={({ currentTarget }) => draft.setName(currentTarget.value)}
            />
            {shown.map((setting) => (
              <div key={setting.name}>
                <KindField
                  setting={setting}
                  value={draft.valueOf(setting.name)}
                  error={fieldError(draft.error, setting.name)}
                  isSaved={source.settings[setting.name] !== undefined}
                  disabled={!mayChange}
                  onChange={(value) => draft.set(setting.name, value)}
                />
                {setting.secret && source.settings[setting.name] !== undefined && mayChange && (
                  <Text size="xs" c="dimmed" mt={4}>
                    {sourcesText.settings.overlap}
                  </Text>
                )}
              </div>
            ))}
          </Stack>
        </Card>
        {mayChange && <SaveBar draft={draft} kind={kind} />}
      </Stack>
    </Form>
  );
}
