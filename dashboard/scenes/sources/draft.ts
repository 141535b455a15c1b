// Unsaved changes of a source's settings.

import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useUnsaved } from "../../common/forms/unsaved.ts";
import { notify } from "../../common/notices.tsx";
import { sourcesText } from "../../messages/sources.ts";
import type { Kind } from "./kinds.ts";
import type { Source } from "./parts.tsx";

export type Draft = ReturnType<typeof useDraft>;

export function useDraft(site: string, source: Source, kind: Kind) {
  const [changes, setChanges] = useState<Record<string, string>>({});
  const [name, setName] = useState(source.name);
  const declared = (setting: string) => kind.settings.find((one) => one.name === setting);
  /** Secrets are never shown: an empty field leaves them as they are. */
  const before = (setting: string) =>
    declared(setting)?.secret
      ? ""
      : (source.settings[setting] ?? (declared(setting)?.choices ? declared(setting)?.default : null) ?? "");
  const save = useSend("PATCH /sites/:site/sources/:source", {
    onDone: () => {
      forget();
      setChanges({});
      notify(sourcesText.settings.saved);
    },
  });
  const isChanged = Object.keys(changes).length > 0 || name !== source.name;
  const forget = useUnsaved(isChanged);
  return {
    changes,
    name,
    setName,
    isChanged,
    valueOf: (setting: string): string => changes[setting] ?? before(setting),
    set: (setting: string, value: string): void =>
      setChanges((all) => {
        const { [setting]: _, ...others } = all;
        return value === before(setting) ? others : { ...all, [setting]: value };
      }),
    discard: (): void => {
      setChanges({});
      setName(source.name);
    },
    save: (): void =>
      save.mutate({
        params: { site, source: source.id },
        body: { settings: changes, ...(name === source.name ? {} : { name }) },
      }),
    isBusy: save.isPending,
    error: save.error,
  };
}
