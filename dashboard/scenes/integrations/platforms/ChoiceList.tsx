// The platform's own list for a setting: accounts, pixels, conversion actions. It is loaded when opened; the value can always
// be entered manually instead.

import { Button, Combobox, Group, Skeleton, Stack, Text, useCombobox } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { call, type ApiError, type Answer } from "../../../common/api/api.ts";
import { withLabels, type Editor } from "./editor.ts";
import { signInFills } from "./signIn.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { listText } from "../../../messages/catalogue/plural.ts";

type Choices = Answer<"POST /sites/:site/connections/choices">["items"];

export function ChoiceList({
  editor,
  setting,
  label,
  onChoose,
  size = "sm",
}: {
  editor: Editor;
  setting: string;
  /** Names the field for screen readers. */
  label: string;
  onChoose: (value: string) => void;
  size?: "xs" | "sm";
}) {
  const { site, platform, connection, draft, signIn } = editor;
  const [search, setSearch] = useState("");
  const loading = useMutation<Choices, ApiError>({
    mutationFn: async () => {
      const answer = await call("POST /sites/:site/connections/choices", {
        params: { site },
        body: {
          platform: platform.id,
          setting,
          settings: draft.changes,
          ...(connection ? { connection: connection.id } : {}),
          ...(signIn ? { signIn } : {}),
        },
      });
      return answer.items;
    },
  });
  const list = useCombobox({
    onDropdownOpen: () => {
      setSearch("");
      if (missing.length === 0) loading.mutate();
      list.focusSearchInput();
    },
    onDropdownClose: () => list.resetSelectedOption(),
  });
  const isSet = (name: string) =>
    (signIn !== null && signInFills.includes(name)) || Boolean(draft.changes[name] ?? connection?.settings[name]);
  const declared = (name: string) => platform.settings.find((one) => one.name === name);
  // The relay would refuse the request without these settings.
  const missing = (declared(setting)?.choices?.needs ?? [])
    .filter((name) => !isSet(name))
    .map((name) => declared(name)?.label ?? name);
  const wanted = search.trim().toLowerCase();
  const found = loading.data?.filter(
    (one) => one.label.toLowerCase().includes(wanted) || one.value.toLowerCase().includes(wanted),
  );
  return (
    <Combobox
      store={list}
      width={320}
      position="bottom-end"
      onOptionSubmit={(value) => {
        onChoose(value);
        list.closeDropdown();
      }}
    >
      <Combobox.Target targetType="button" withAriaAttributes={false}>
        <Button
          variant="default"
          size={size}
          rightSection={<ChevronDown size={14} aria-hidden />}
          aria-label={integrationsText.choices.chooseFrom(label)}
          aria-haspopup="listbox"
          onClick={() => list.toggleDropdown()}
        >
          {integrationsText.choices.choose}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          placeholder={integrationsText.choices.search}
          aria-label={integrationsText.choices.searchField(label)}
        />
        <Combobox.Options mah={280} style={{ overflowY: "auto" }} aria-label={label}>
          {missing.length > 0 && <Note>{integrationsText.choices.enterFirst(listText(missing))}</Note>}
          {loading.isPending && <Waiting />}
          {loading.error && <Note>{withLabels(loading.error.message, platform)}</Note>}
          {found?.length === 0 && (
            <Note>
              {loading.data?.length === 0 ? integrationsText.choices.none(platform.name) : integrationsText.choices.noMatches}
            </Note>
          )}
          {found?.map(({ value, label: words }) => (
            <Combobox.Option key={value} value={value}>
              <Group justify="space-between" wrap="nowrap" gap="xs">
                <Text size="sm" truncate>
                  {words}
                </Text>
                {words !== value && (
                  <Text size="xs" c="dimmed" className="cc-mono">
                    {value}
                  </Text>
                )}
              </Group>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function Waiting() {
  return (
    <Stack gap={4} p={4} role="status" aria-label={integrationsText.choices.loading}>
      <Skeleton height={28} />
      <Skeleton height={28} />
      <Skeleton height={28} />
    </Stack>
  );
}

function Note({ children }: { children: React.ReactNode }) {
  return (
    <Combobox.Empty>
      <Text size="sm" c="dimmed" ta="left" role="status">
        {children}
      </Text>
    </Combobox.Empty>
  );
}
