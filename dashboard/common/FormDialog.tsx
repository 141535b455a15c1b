// A form in a dialog: the button that opens it, its fields and its buttons.

import { Button, Group, Modal, Stack, type ButtonProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import type { ApiError } from "./api/api.ts";
import type { useLinkedDialog } from "./linkedDialog.ts";
import { Form } from "./Form.tsx";
import { RequestError } from "./states.tsx";
import { commonText } from "../messages/common.ts";

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
      <Modal opened={isOpen} onClose={close} title={title}>
        {children(close)}
      </Modal>
    </>
  );
}

/** The form of a dialog: its fields, an error that belongs to no field, and the buttons. */
export function DialogForm({
  submit,
  onSubmit,
  onClose,
  isBusy,
  error,
  danger = false,
  disabled = false,
  noValidate = false,
  children,
}: {
  /** The label of the button that sends the form. */
  submit: string;
  onSubmit: () => void;
  onClose: () => void;
  isBusy: boolean;
  error: ApiError | null;
  danger?: boolean;
  disabled?: boolean;
  noValidate?: boolean;
  children: ReactNode;
}) {
  return (
    <Form onSubmit={onSubmit} noValidate={noValidate}>
      <Stack>
        {children}
        <RequestError error={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={isBusy} disabled={disabled} {...(danger ? { color: "red" } : {})}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
