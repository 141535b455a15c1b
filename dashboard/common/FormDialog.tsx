// A form in a dialog: the button that opens it, its fields and its buttons. A dialog with unsaved input does not close by a click
// outside; Escape and the cross ask first. Cancel is an answer of its own.

import { Button, Group, Modal, Stack, type ButtonProps, type ModalProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState, type ReactNode } from "react";
import type { useLinkedDialog } from "./linkedDialog.ts";
import type { Form } from "./forms/useForm.ts";
import { askToDiscard, DialogDrafts, useHasUnsaved } from "./forms/unsaved.ts";
import { RequestError } from "./states.tsx";
import { commonText } from "../messages/common.ts";

export function FormModal({ onClose, children, ...modal }: Omit<ModalProps, "closeOnClickOutside">) {
  const [drafts] = useState(() => new Set<unknown>());
  // Draws again when a form reports its input.
  useHasUnsaved();
  const close = () => {
    if (drafts.size === 0) onClose();
    else
      void askToDiscard().then((mayDiscard) => {
        if (mayDiscard) onClose();
      });
  };
  return (
    <Modal {...modal} onClose={close} closeOnClickOutside={drafts.size === 0}>
      <DialogDrafts value={drafts}>{children}</DialogDrafts>
    </Modal>
  );
}

/**
 * A button and the dialog with a form that it opens. The form is mounted with the dialog, so that it begins empty each time.
 * `state` is for a dialog that a link can open too.
 */
export function FormButton({
  label,
  title = label,
  state,
  children,
  ...button
}: {
  label: string;
  title?: string;
  state?: ReturnType<typeof useLinkedDialog>;
  children: (close: () => void) => ReactNode;
  "aria-label"?: string;
} & Pick<ButtonProps, "leftSection" | "variant" | "size" | "color">) {
  const own = useDisclosure();
  const [isOpen, { open, close }] = state ?? own;
  return (
    <>
      <Button {...button} onClick={open}>
        {label}
      </Button>
      <FormModal opened={isOpen} onClose={close} title={title}>
        {children(close)}
      </FormModal>
    </>
  );
}

/** The form of a dialog: its fields, an error that belongs to no field, and the buttons. */
export function DialogForm<Values>({
  form,
  submit,
  onClose,
  danger = false,
  disabled = false,
  children,
}: {
  form: Form<Values>;
  /** The label of the button that sends the form. */
  submit: string;
  onClose: () => void;
  danger?: boolean;
  disabled?: boolean;
  children: ReactNode;
}) {
  return (
    <form {...form.props}>
      <Stack>
        {children}
        <RequestError error={form.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={form.isPending} disabled={disabled} {...(danger ? { color: "red" } : {})}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
