// The platform's event name or conversion action for each event.

import { Button, Group, Select, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { Card } from "../../../../common/Page.tsx";
import type { Platform } from "../../connections.tsx";
import { ChoiceList } from "../ChoiceList.tsx";
import type { EventNames as EventNamesOfPlatform } from "../../../../../src/platforms/platform.ts";
import { foldName, nameSetting, resolveName, type ResolvedName } from "../../../../../src/platforms/shared/eventNames.ts";
import type { Editor } from "../editor.ts";
import { integrationsText } from "../../../../messages/integrations.ts";

const minShown = 6;

/**
 * Some platforms have conversion actions or rules instead of event names. Returns the setting whose list offers them; null for
 * all other platforms.
 */
function actionSetting({ events, settings }: Platform) {
  if (!events || Object.keys(events.standard).length > 0) return null;
  return settings.find(({ choices, required }) => choices && !required) ?? null;
}

/** The platform's names in the form in which the relay resolves them, so that both find the same. */
function namesOf({ events }: Platform): EventNamesOfPlatform {
  if (!events) return { standard: {}, others: "own name" };
  const { standard, others, several, defaultSetting, customNames } = events;
  const { maxLength, form, reserved, reservedPrefixes } = customNames;
  return {
    standard,
    others: others === null ? "not sent" : others === "own name" ? others : { name: others },
    customNames: { reserved, reservedPrefixes, ...(maxLength && { maxLength }), ...(form && { form }) },
    ...(several && { several }),
    ...(defaultSetting && { defaultSetting }),
  };
}

/** Finds the platform's name for an event without a choice of its own, with the unsaved changes. */
function resolveDefault({ platform, connection, draft }: Editor, event: string): ResolvedName {
  const settings = Object.entries({ ...connection?.settings, ...draft.changes }).filter(
    ([name, value]) => value !== "" && name !== nameSetting(event),
  );
  return resolveName(event, Object.fromEntries(settings), namesOf(platform));
}

/** The setting that applies to events without a choice of their own. */
const fallbackSetting = ({ settings, events }: Platform) => settings.find(({ name }) => name === events?.defaultSetting) ?? null;

function othersSentence({ platform }: Editor): string {
  const others = platform.events?.others ?? null;
  if (others === "own name") return integrationsText.names.ownName(platform.name);
  if (others !== null) return integrationsText.names.sentAs(others);
  const setting = fallbackSetting(platform);
  return setting ? integrationsText.names.sentTo(setting.label) : integrationsText.names.skipped;
}

export function EventNames({ editor, seen }: { editor: Editor; seen: readonly string[] }) {
  const { platform, connection, draft, mayChange } = editor;
  const [showAll, setShowAll] = useState(false);
  const [added, setAdded] = useState<string[]>([]);
  const overridden = Object.keys({ ...connection?.settings, ...draft.changes })
    .filter((name) => name.startsWith("event."))
    .map((name) => name.slice("event.".length));
  const standard = Object.keys(platform.events?.standard ?? {});
  const names = new Map<string, string>();
  for (const name of [...seen, ...standard, ...overridden, ...added])
    if (!names.has(foldName(name))) names.set(foldName(name), name);
  const isFirst = (name: string) => [...seen, ...overridden, ...added].some((one) => foldName(one) === foldName(name));
  const first = [...names.values()].filter(isFirst);
  const later = [...names.values()].filter((name) => !isFirst(name));
  const shown = showAll ? [...first, ...later] : [...first, ...later.slice(0, Math.max(0, minShown - first.length))];
  const action = actionSetting(platform);
  return (
    <Card padded={false} title={action ? action.label : integrationsText.names.title} about={othersSentence(editor)}>
      {shown.length > 0 && (
        <table className="cc-table">
          <thead>
            <tr>
              <th scope="col" style={{ width: "40%" }}>
                {integrationsText.names.yours}
              </th>
              <th scope="col">{platform.name}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((name) => (
              <tr key={name}>
                <td style={{ overflowWrap: "anywhere" }}>
                  <span className="cc-mono">{name}</span>
                  <NameNote resolved={resolveDefault(editor, name)} />
                </td>
                <td>
                  <NameField editor={editor} event={name} action={action} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Group p="md" justify="space-between">
        {mayChange && <AddName onAdd={(name) => setAdded((before) => [...before, name])} />}
        {shown.length < names.size && (
          <Button variant="subtle" size="compact-sm" onClick={() => setShowAll(true)}>
            {integrationsText.names.showAll(names.size)}
          </Button>
        )}
      </Group>
    </Card>
  );
}

/** Says what an event is taken for, where that is not its own name. */
function NameNote({ resolved: { usual, by } }: { resolved: ResolvedName }) {
  const note = usual ? integrationsText.names.takenFor(usual) : by === "custom" ? integrationsText.names.custom : null;
  return (
    note && (
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    )
  );
}

function NameField({ editor, event, action }: { editor: Editor; event: string; action: ReturnType<typeof actionSetting> }) {
  const { platform, draft, mayChange } = editor;
  const setting = nameSetting(event);
  const label = integrationsText.names.label(platform.name, event);
  const value = draft.valueOf(setting);
  const fault = editor.fault(setting);
  const { choices, several } = platform.events ?? {};
  const placeholder = resolveDefault(editor, event).names.join(",") || integrationsText.names.notSent;
  if (choices)
    return (
      <Select
        aria-label={label}
        size="xs"
        data={choices}
        value={value || null}
        placeholder={placeholder}
        onChange={(chosen) => draft.set(setting, chosen ?? "")}
        error={fault}
        disabled={!mayChange}
        clearable
        searchable
        clearButtonProps={{ "aria-label": integrationsText.names.reset(event) }}
      />
    );
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <TextInput
        aria-label={label}
        size="xs"
        value={value}
        placeholder={placeholder}
        onChange={({ currentTarget }) => draft.set(setting, currentTarget.value)}
        error={fault}
        disabled={!mayChange}
        autoComplete="off"
        style={{ flex: 1 }}
      />
      {action && mayChange && (
        <ChoiceList
          editor={editor}
          setting={action.name}
          label={integrationsText.names.choice(action.label, event)}
          onChoose={(chosen) => draft.set(setting, several && value ? `${value},${chosen}` : chosen)}
          size="xs"
        />
      )}
    </Group>
  );
}

function AddName({ onAdd }: { onAdd: (name: string) => void }) {
  const [name, setName] = useState("");
  const add = () => {
    if (name.trim()) onAdd(name.trim());
    setName("");
  };
  return (
    <Group gap="xs" wrap="nowrap">
      <TextInput
        size="xs"
        aria-label={integrationsText.names.another}
        placeholder={integrationsText.names.anotherHint}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        onKeyDown={(event) => {
          // Enter adds the name; it must not save the form.
          if (event.key !== "Enter") return;
          event.preventDefault();
          add();
        }}
      />
      <Button size="xs" variant="default" onClick={add} disabled={name.trim() === ""}>
        {integrationsText.names.add}
      </Button>
    </Group>
  );
}
