// Questions before something is done that cannot be taken back, and secrets that are shown once.

import { Alert, Button, Code, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import type { ApiError } from "./api.ts";
import { Refused } from "./states.tsx";
import { CopyButton } from "./values.tsx";

/** A button that asks first, and says what will happen. */
export function AskButton({
  label,
  question,
  consequence,
  confirm,
  onConfirm,
  isBusy = false,
  error = null,
  danger = true,
  variant = "default",
  size = "sm",
  icon,
}: {
  label: string;
  question: string;
  /** What will happen, in a sentence or two. */
  consequence: ReactNode;
  /** The word on the button that does it. */
  confirm: string;
  /** Closes the question when it resolves. */
  onConfirm: () => Promise<unknown>;
  isBusy?: boolean;
  error?: ApiError | null;
  danger?: boolean;
  variant?: "default" | "subtle" | "light" | "filled";
  size?: "xs" | "sm" | "compact-sm" | "compact-xs";
  icon?: ReactNode;
}) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        variant={variant}
        size={size}
        {...(danger ? { color: "red" } : {})}
        {...(icon ? { leftSection: icon } : {})}
        onClick={(event) => {
          event.stopPropagation();
          open();
        }}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={question} onClick={(event) => event.stopPropagation()}>
        <Stack>
          <Text size="sm" component="div">
            {consequence}
          </Text>
          <Refused error={error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button
              {...(danger ? { color: "red" } : {})}
              loading={isBusy}
              onClick={() => void onConfirm().then(close, () => {})}
            >
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

/** A secret that is shown this once. Closing needs a click on the button, not beside the dialog. */
export function SecretOnce({
  title,
  secret,
  notice = "It is shown only this once. Copy it now and keep it on your server.",
  children,
  onClose,
}: {
  title: string;
  secret: string | null;
  notice?: string;
  children?: ReactNode;
  onClose: () => void;
}) {
  return (
    <Modal
      opened={secret !== null}
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      // Above a drawer that asked for it.
      zIndex={300}
      closeOnEscape={false}
      withCloseButton={false}
      size="lg"
    >
      <Stack>
        <Alert variant="light" icon={<KeyRound size={18} />}>
          {notice}
        </Alert>
        <Group gap="xs" wrap="nowrap">
          <Code block style={{ flex: 1, overflowWrap: "anywhere", whiteSpace: "pre-wrap" }} data-secret>
            {secret ?? ""}
          </Code>
          <CopyButton value={secret ?? ""} label="Copy" />
        </Group>
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
