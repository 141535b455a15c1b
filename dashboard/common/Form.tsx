import type { ComponentProps } from "react";

/** A form that stays on its page when it is sent. */
export function Form({ onSubmit, ...props }: Omit<ComponentProps<"form">, "onSubmit"> & { onSubmit: () => void }) {
  return (
    <form
      {...props}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}
