// Confirmation before an action with consequences, and secrets that are shown once.

import { Alert, Button, Code, Group, Modal, Stack, Text } from "@mantine/core";
import { useDidUpdate } from "@mantine/hooks";
import { KeyRound } from "lucide-react";
import { useState, type ReactNode } from "react";
import { flushSync } from "react-dom";
import type { ApiError } from "./api/api.ts";
import { focusLast } from "./recentFocus.ts";
import { RequestError } from "./states.tsx";
import { CopyButton } from "./values.tsx";
import { commonText } from "../messages/common.ts";

/**
 * The state of a dialog that is mounted at its first use: a closed one costs more than the rest of its row. It is mounted closed,
 * because Mantine notes what has the focus when a dialog opens.
 */
export function useLateDialog() {
  const [isMounted, setMounted] = useState(false);
  const [isOpen, setOpen] = useState(false);
  return {
    isMounted,
    isOpen,
    open: () => {
      flushSync(() => setMounted(true));
      setOpen(true);
    },
    close: () => setOpen(false),
  };
}

/** The request that a confirmation sends. */
type Request = { isPending: boolean; error: ApiError | null };

/** A button that asks for confirmation and explains the consequence. */
export function ConfirmButton({
  label,
  question,
  consequence,
  confirm,
  onConfirm,
  of,
  danger = true,
  variant = "default",
  size = "sm",
  icon,
}: {
  label: string;
  question: string;
  /** Explains the consequence in one or two sentences. */
  consequence: ReactNode;
  /** The label of the confirming button. */
  confirm: string;
  /** The dialog closes when it resolves. */
  onConfirm: () => Promise<unknown>;
  of?: Request;
  danger?: boolean;
  variant?: "default" | "subtle" | "light" | "filled";
  size?: "xs" | "sm" | "compact-sm" | "compact-xs";
  icon?: ReactNode;
}) {
  const { isMounted, isOpen, open, close } = useLateDialog();
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
      {isMounted && (
        <ConfirmDialog
          isOpen={isOpen}
          onClose={close}
          question={question}
          consequence={consequence}
          confirm={confirm}
          {...(of ? { of } : {})}
          danger={danger}
          onConfirm={() => void onConfirm().then(close, () => {})}
        />
      )}
    </>
  );
}

/** The confirmation without its button, for an action in a menu. */
export function ConfirmDialog({
  isOpen,
  onClose,
  question,
  consequence,
  confirm,
  onConfirm,
  of = { isPending: false, error: null },
  danger = true,
}: {
  isOpen: boolean;
  onClose: () => void;
  question: string;
  consequence: ReactNode;
  confirm: string;
  onConfirm: () => void;
  of?: Request;
  danger?: boolean;
}) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={question} onClick={(event) => event.stopPropagation()}>
      <Stack>
        <Text size="sm" component="div">
          {consequence}
        </Text>
        <RequestError error={of.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button {...(danger ? { color: "red" } : {})} loading={of.isPending} onClick={onConfirm}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Shows a secret once. Only its button closes the dialog; a click outside does not. */
export function OneTimeSecret({
  title,
  secret,
  notice = commonText.secret.notice,
  children,
  onClose,
}: {
  title: string;
  secret: string | null;
  notice?: string;
  children?: ReactNode;
  onClose: () => void;
}) {
  const isOpen = secret !== null;
  useDidUpdate(() => {
    // Later than the dialog is removed, if it is without transitions.
    if (!isOpen) setTimeout(() => focusLast(".cc-secret"));
  }, [isOpen]);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      className="cc-secret"
      returnFocus={false}
      closeOnClickOutside={false}
      // Above a drawer that opened it.
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
          <CopyButton value={secret ?? ""} label={commonText.copy} />
        </Group>
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose}>{commonText.secret.done}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** A link that could not be sent by email, to be copied and passed on. */
export function OneTimeLink({
  title,
  link,
  about,
  onClose,
}: {
  title: string;
  link: string | null;
  about: string;
  onClose: () => void;
}) {
  return (
    <OneTimeSecret title={title} secret={link} notice={commonText.secret.linkNotice} onClose={onClose}>
      <Text size="sm">{about}</Text>
    </OneTimeSecret>
  );
}
