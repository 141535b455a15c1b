// The menu of the user: account, documentation, theme, language and sign-out.

import { Avatar, Group, Menu, Text, UnstyledButton, VisuallyHidden, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { BookOpen, Check, Languages, LogOut, MonitorCog, Moon, Sun, UserRound } from "lucide-react";
import { call } from "../../common/api/api.ts";
import { turnOffHere } from "../../common/api/thisDevice.ts";
import { queryClient } from "../../common/api/query.ts";
import { chooseLanguage } from "../../common/shownLanguage.ts";
import { language, languageNames, languages } from "../../messages/catalogue/language.ts";
import { commonText } from "../../messages/common.ts";
import { frameText } from "../../messages/frame.ts";

export function UserMenu({ name, email }: { name: string; email: string }) {
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = [
    { value: "light", label: frameText.menu.light, icon: Sun },
    { value: "dark", label: frameText.menu.dark, icon: Moon },
    { value: "auto", label: frameText.menu.system, icon: MonitorCog },
  ] as const;
  return (
    <Menu width={224} position="top-start">
      <Menu.Target>
        <UnstyledButton px={12} py={8}>
          <Group gap="xs" wrap="nowrap">
            <Avatar size={28} name={name} color="accent" aria-hidden />
            <div style={{ minWidth: 0 }}>
              <Text size="sm" fw={500} truncate>
                {name}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {email}
              </Text>
              <VisuallyHidden>{frameText.menu.about}</VisuallyHidden>
            </div>
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<UserRound size={15} />} onClick={() => void navigate({ to: "/account" })}>
          {frameText.menu.account}
        </Menu.Item>
        <Menu.Item leftSection={<BookOpen size={15} />} component="a" href="/docs/">
          {frameText.menu.documentation}
        </Menu.Item>
        <Menu.Divider />
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={15} />}
            rightSection={colorScheme === value ? <Check size={15} /> : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{commonText.language}</Menu.Label>
        {languageNames.map((one) => (
          <Menu.Item
            key={one}
            lang={one}
            leftSection={<Languages size={15} />}
            rightSection={language() === one ? <Check size={15} /> : null}
            onClick={() => void chooseLanguage(one)}
          >
            {languages[one]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<LogOut size={15} />}
          onClick={() =>
            // The next person at this browser must not see the alerts of this one.
            void turnOffHere()
              .catch(() => {})
              .then(() => call("DELETE /session", {}))
              .finally(() => {
                queryClient.clear();
                void navigate({ to: "/sign-in" });
              })
          }
        >
          {frameText.menu.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
