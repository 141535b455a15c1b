// The mapping editor: where each field of a conversion is in the sender's request, with the fields of real requests to choose from,
// and a preview of the conversion.

import { Box, Grid, Stack } from "@mantine/core";
import { useId, useState } from "react";
import { Form } from "../../common/Form.tsx";
import { Card } from "../../common/Page.tsx";
import { fieldError } from "../../common/forms/faults.ts";
import { sourcesText } from "../../messages/sources.ts";
import { Fold } from "../integrations/platforms/SettingsForm.tsx";
import { FieldPicker, useShapes } from "./FieldPicker.tsx";
import { KindField } from "./KindField.tsx";
import { RequestPreview } from "./RequestPreview.tsx";
import { SaveBar } from "./SaveBar.tsx";
import { useDraft } from "./draft.ts";
import type { Kind, KindSetting } from "./kinds.ts";
import type { Source } from "./parts.tsx";

/** Those that most mappings need; the others are folded. */
const mainFields = ["when", "event", "email", "value", "currency", "order_id"];
/** Settings of a mapping that are plain text. */
const textFields = ["event", "currency", "click_ids"];

/** A fixed text is no place of a field: its neighbour is. */
const fieldOf: Readonly<Record<string, string>> = { event: "event_from", currency: "currency_from" };

export const isOfMapping = ({ isMapped }: Kind, { name, mapping }: KindSetting) =>
  isMapped && (mapping !== null || textFields.includes(name));

type Props = { site: string; source: Source; kind: Kind };

export function MappingTab({ site, source, kind }: Props) {
  const draft = useDraft(site, source, kind);
  const [chosen, setChosen] = useState("email");
  const shapes = useShapes(site, source);
  const suggestions = useId();
  const fields = kind.settings.filter((one) => isOfMapping(kind, one));
  const main = fields.filter(({ name }) => mainFields.includes(name));
  const more = fields.filter(({ name }) => !mainFields.includes(name));
  const draw = (list: readonly KindSetting[]) =>
    list.map((setting) => (
      <KindField
        key={setting.name}
        setting={setting}
        value={draft.valueOf(setting.name)}
        error={fieldError(draft.error, setting.name)}
        suggestions={suggestions}
        onChange={(value) => draft.set(setting.name, value)}
        onFocus={() => setChosen(fieldOf[setting.name] ?? setting.name)}
      />
    ));
  const labelOf = (name: string) => fields.find((one) => one.name === name)?.label ?? name;
  const isUsed = (list: readonly KindSetting[]) =>
    list.some(({ name }) => source.settings[name] !== undefined || fieldError(draft.error, name) !== null);
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 6 }}>
        {/* On a phone the fields of a request are far below the line. */}
        <datalist id={suggestions}>
          {shapes.data?.items[0]?.fields.map(({ path }) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <Form noValidate onSubmit={draft.save}>
          <Stack gap="lg">
            <Card title={sourcesText.mapping.title} about={sourcesText.mapping.about}>
              <Stack gap="lg">
                {draw(main)}
                <Fold label={sourcesText.mapping.more} isOpen={isUsed(more)}>
                  {draw(more)}
                </Fold>
              </Stack>
            </Card>
            <SaveBar draft={draft} kind={kind} />
          </Stack>
        </Form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        {/* It stays beside the line that a person is at. */}
        <Box pos={{ base: "static", md: "sticky" }} top={24} mah={{ md: "calc(100vh - 48px)" }} style={{ overflowY: "auto" }}>
          <Stack gap="lg">
            <FieldPicker
              site={site}
              source={source}
              chosen={labelOf(chosen)}
              onChoose={(path) => draft.set(chosen, withField(draft.valueOf(chosen), path, chosen))}
            />
            <RequestPreview site={site} source={source} changes={draft.changes} />
          </Stack>
        </Box>
      </Grid.Col>
    </Grid>
  );
}

/** What a line becomes with a field. A condition is written around it, and places of click ids are a list. */
function withField(before: string, path: string, name: string): string {
  if (name === "click_ids") return before === "" ? path : `${before}; ${path}`;
  if (!name.endsWith("when")) return path;
  return before === "" ? `${path} exists` : `${before} and ${path} exists`;
}

/** For kinds whose mapping is declared: what would become of a request. */
export function PreviewTab({ site, source }: Pick<Props, "site" | "source">) {
  return (
    <Box maw={720}>
      <RequestPreview site={site} source={source} changes={{}} withSwitch />
    </Box>
  );
}
