// The connection's form, drawn from the settings that the platform declares.

import { Button, Collapse, List, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { ChevronDown, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "../../../common/Page.tsx";
import { ExternalLink } from "../../../common/links.tsx";
import { SettingField } from "./SettingField.tsx";
import { SignInBox } from "./SignInBox.tsx";
import type { Editor } from "./editor.ts";
import { signInFills, type SignInStep } from "./signIn.ts";
import { integrationsText } from "../../../messages/integrations.ts";

export function SettingsForm({ editor, step }: { editor: Editor; step: SignInStep }) {
  const { platform, connection, mayChange } = editor;
  const canSignIn = platform.signIn?.ready === true;
  // A field with a list of choices, and a secret that can be rotated, are shown with the required ones.
  const isMain = ({ name, required, choices, signing }: (typeof platform.settings)[number]) =>
    required || choices !== null || (signing && connection !== null) || platform.requires.flat().includes(name);
  const pasted = platform.settings.filter(({ name }) => signInFills.includes(name) && canSignIn);
  const rest = platform.settings.filter((one) => !pasted.includes(one));
  const main = rest.filter(isMain);
  const more = rest.filter((one) => !isMain(one));
  const draw = (list: typeof main) =>
    list.map((setting) => <SettingField key={setting.name} editor={editor} setting={setting} />);
  const hasError = (list: typeof main) => list.some(({ name }) => editor.fault(name) !== null);
  return (
    <Card title={integrationsText.settings.title} about={platform.requires.length > 0 && <Needs editor={editor} />}>
      <Stack gap="lg">
        <SignInBox editor={editor} step={step} />
        {(pasted.length > 0 || platform.guide) && (
          <Stack gap={4}>
            <Guide editor={editor} />
            {pasted.length > 0 && mayChange && (
              <Fold label={integrationsText.settings.pasteToken} isOpen={hasError(pasted)}>
                {draw(pasted)}
              </Fold>
            )}
          </Stack>
        )}
        {draw(main)}
        {more.length > 0 &&
          (main.length === 0 ? (
            draw(more)
          ) : (
            <Fold label={integrationsText.settings.more(more.length)} isOpen={hasError(more)}>
              {draw(more)}
            </Fold>
          ))}
        {platform.settings.length === 0 && (
          <Text size="sm" c="dimmed">
            {connection ? integrationsText.settings.none : integrationsText.settings.noneToConnect}
          </Text>
        )}
      </Stack>
    </Card>
  );
}

function Needs({ editor: { platform } }: { editor: Editor }) {
  const labelOf = (name: string) => platform.settings.find((one) => one.name === name)?.label ?? name;
  const sets = platform.requires.map((names) => names.map(labelOf).join(", "));
  return <>{integrationsText.settings.needsEither(sets.join(integrationsText.settings.or))}</>;
}

function Guide({ editor: { platform } }: { editor: Editor }) {
  const steps = platform.guide?.credentials ?? [];
  if (steps.length === 0) return null;
  return (
    <Fold label={integrationsText.settings.whereToFind} isOpen={false}>
      <List type="ordered" size="sm" spacing="xs" pr="md">
        {steps.map((text) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
      {platform.docsUrl && (
        <ExternalLink href={platform.docsUrl}>{integrationsText.settings.documentation(platform.name)}</ExternalLink>
      )}
    </Fold>
  );
}

export function Fold({ label, isOpen, children }: { label: string; isOpen: boolean; children: ReactNode }) {
  const [isUnfolded, { toggle }] = useDisclosure(isOpen);
  const shown = isUnfolded || isOpen;
  const Icon = shown ? ChevronDown : ChevronRight;
  return (
    <div>
      <Button
        variant="subtle"
        size="compact-sm"
        ml={-8}
        // A long label wraps on a phone.
        h="auto"
        mih={26}
        maw="100%"
        styles={{ label: { whiteSpace: "normal", textAlign: "left" } }}
        aria-expanded={shown}
        leftSection={<Icon size={15} aria-hidden />}
        onClick={toggle}
      >
        {label}
      </Button>
      <Collapse expanded={shown}>
        <Stack gap="lg" pt="sm">
          {children}
        </Stack>
      </Collapse>
    </div>
  );
}
