// Saved views: filters of a list under a name, kept in this browser. The address of a view can be sent to others.

import { ActionIcon, Button, Group, Menu, Modal, Stack, Text, TextInput } from "@mantine/core";
import { Form } from "../Form.tsx";
import { useDisclosure, useLocalStorage } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { Bookmark, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { useSiteId } from "../api/session.ts";
import { notify } from "../notices.tsx";
import { searchOfMode, useQueryParams } from "./queryParams.ts";
import { commonText } from "../../messages/common.ts";

type View = { name: string; search: Record<string, string> };

export function SavedViews({ list }: { list: string }) {
  const site = useSiteId();
  const { search } = useQueryParams();
  const navigate = useNavigate();
  const [views, setViews] = useLocalStorage<View[]>({
    key: `cleancast-views ${site} ${list}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const [isNaming, { open, close }] = useDisclosure();
  const menu = useRef<HTMLButtonElement>(null);
  const manage = () => {
    // The dialog gives the focus back to the button: the item of the menu is gone by then.
    menu.current?.focus();
    open();
  };
  const [name, setName] = useState("");
  const isFiltered = Object.keys(search).length > 0;
  const save = () => {
    const kept = views.filter((one) => one.name !== name.trim());
    setViews([...kept, { name: name.trim(), search: search as Record<string, string> }]);
    setName("");
    close();
    notify(commonText.views.saved);
  };
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button ref={menu} variant="default" leftSection={<Bookmark size={15} aria-hidden />}>
            {commonText.views.label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <Menu.Label>{commonText.views.none}</Menu.Label>}
          {views.map((view) => (
            <Menu.Item
              key={view.name}
              // A view without a mode was saved among live data.
              onClick={() => void navigate({ to: ".", search: { ...searchOfMode("live"), ...view.search } })}
            >
              {view.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          {/* Never disabled: without an item that takes the focus, Escape would not close the menu. */}
          <Menu.Item onClick={manage}>{commonText.views.save}</Menu.Item>
          {views.length > 0 && <Menu.Item onClick={manage}>{commonText.views.manage}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isNaming} onClose={close} title={commonText.views.title}>
        <Stack>
          {isFiltered && (
            <Form
              onSubmit={() => {
                if (name.trim()) save();
              }}
            >
              <Group align="flex-end" gap="xs">
                <TextInput
                  label={commonText.views.name}
                  value={name}
                  maxLength={60}
                  onChange={({ currentTarget }) => setName(currentTarget.value)}
                  style={{ flex: 1 }}
                  data-autofocus
                />
                <Button type="submit" disabled={!name.trim()}>
                  {commonText.save}
                </Button>
              </Group>
            </Form>
          )}
          <Stack role="list">
            {views.map((view) => (
              <Group key={view.name} role="listitem" justify="space-between" wrap="nowrap">
                <Text size="sm" truncate>
                  {view.name}
                </Text>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={commonText.views.remove(view.name)}
                  onClick={() => setViews(views.filter((one) => one !== view))}
                >
                  <Trash2 size={15} aria-hidden />
                </ActionIcon>
              </Group>
            ))}
          </Stack>
          <Text size="xs" c="dimmed">
            {commonText.views.about}
          </Text>
        </Stack>
      </Modal>
    </>
  );
}
