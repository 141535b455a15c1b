// The connection itself: a form drawn from what the platform declares.

import { Button, Collapse, List, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { ChevronDown, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import { Outside } from "../../common/values.tsx";
import type { Bench } from "./bench.ts";
import { SettingField } from "./SettingField.tsx";
import { SignInBox } from "./SignInBox.tsx";
import { signInFills, type SignInStep } from "./signIn.ts";

export function SettingsForm({ bench, step }: { bench: Bench; step: SignInStep }) {
  const { platform, error, connection, mayChange } = bench;
  const field = error?.field?.replace(/^settings\./, "");
  const canSignIn = platform.signIn?.ready === true;
  // A field that can be filled from a list is as good as required: it is there to be chosen from.
  const isMain = ({ name, required, choices }: (typeof platform.settings)[number]) =>
    required || choices !== null || platform.requires.flat().includes(name);
  const pasted = platform.settings.filter(({ name }) => signInFills.includes(name) && canSignIn);
  const rest = platform.settings.filter((one) => !pasted.includes(one));
  const main = rest.filter(isMain);
  const more = rest.filter((one) => !isMain(one));
  const draw = (list: typeof main) =>
    list.map((setting) => <SettingField key={setting.name} bench={bench} setting={setting} />);
  const holds = (list: typeof main) => list.some(({ name }) => name === field);
  return (
    <Card title="Connection" about={platform.requires.length > 0 && <Needs bench={bench} />}>
      <Stack gap="lg">
        <SignInBox bench={bench} step={step} />
        {(pasted.length > 0 || platform.guide) && (
          <Stack gap={4}>
            <Guide bench={bench} />
            {pasted.length > 0 && mayChange && (
              <Fold label="Paste a token instead" isOpen={holds(pasted)}>
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
            <Fold label={`More settings (${more.length})`} isOpen={holds(more)}>
              {draw(more)}
            </Fold>
          ))}
        {platform.settings.length === 0 && (
          <Text size="sm" c="dimmed">
            {connection ? "There is nothing to set up here." : "There is nothing to set up: connect it."}
          </Text>
        )}
      </Stack>
    </Card>
  );
}

function Needs({ bench: { platform } }: { bench: Bench }) {
  const labelOf = (name: string) => platform.settings.find((one) => one.name === name)?.label ?? name;
  const sets = platform.requires.map((names) => names.map(labelOf).join(", "));
  return <>It needs either {sets.join("; or ")}.</>;
}

function Guide({ bench: { platform } }: { bench: Bench }) {
  const steps = platform.guide?.credentials ?? [];
  if (steps.length === 0) return null;
  return (
    <Fold label="Where do I find this?" isOpen={false}>
      <List type="ordered" size="sm" spacing="xs" pr="md">
        {steps.map((text) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
      {platform.docsUrl && <Outside href={platform.docsUrl}>{platform.name}'s own description</Outside>}
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
