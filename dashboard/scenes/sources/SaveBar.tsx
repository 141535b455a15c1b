import { Button, Group, Text } from "@mantine/core";
import { otherError } from "../../common/fields.ts";
import { RequestError } from "../../common/states.tsx";
import { commonText } from "../../messages/common.ts";
import { sourcesText } from "../../messages/sources.ts";
import type { Draft } from "./draft.ts";
import type { Kind } from "./kinds.ts";

/** Shown while there are unsaved changes. Errors of a field are shown at the field. */
export function SaveBar({ draft, kind }: { draft: Draft; kind: Kind }) {
  if (!draft.isChanged) return null;
  return (
    <div className="cc-save">
      <RequestError error={otherError(draft.error, "name", ...kind.settings.map(({ name }) => name))} />
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" aria-live="polite">
          {sourcesText.settings.unsaved}
        </Text>
        <Group gap="xs">
          <Button variant="default" onClick={draft.discard}>
            {commonText.discard}
          </Button>
          <Button type="submit" loading={draft.isBusy}>
            {commonText.save}
          </Button>
        </Group>
      </Group>
    </div>
  );
}
