// The state of a form: its values, the errors at its fields, and one request at a time. The rules of a field are the attributes of
// its input (`required`, `type="email"`, `minLength`); the relay's errors appear at the same place.

import { useEffect, useRef, useState, type FormEvent, type RefObject } from "react";
import type { ApiError } from "../api/api.ts";
import { useRequest } from "../api/query.ts";
import { findFaults } from "./faults.ts";
import { useUnsaved } from "./unsaved.ts";

type Faults = Readonly<Record<string, string>>;

export type Form<Values> = {
  values: Values;
  /** The values that differ from the saved ones. */
  changes: Partial<Values>;
  isChanged: boolean;
  isPending: boolean;
  /** The error that belongs to no field. */
  error: ApiError | null;
  fault: (name: string) => string | null;
  set: <Key extends keyof Values>(name: Key, value: Values[Key]) => void;
  /** Returns to the saved values. */
  discard: () => void;
  /** The properties of a text field. */
  text: (name: TextName<Values>) => TextProps;
  /** The properties of a field that gives its value, such as a select. */
  field: <Key extends keyof Values & string>(name: Key) => FieldProps<Values[Key]>;
  /** The properties of the form element. */
  props: FormElementProps;
};

type TextName<Values> = { [Key in keyof Values]: Values[Key] extends string ? Key : never }[keyof Values] & string;
export type TextProps = {
  name: string;
  value: string;
  error: string | null;
  /** Mantine's field for passwords does not say it. */
  "aria-invalid"?: true;
  onChange: (event: { currentTarget: { value: string } }) => void;
};
type FieldProps<Value> = { value: Value; error: string | null; onChange: (value: Value | null) => void };
export type FormElementProps = {
  ref: RefObject<HTMLFormElement | null>;
  noValidate: true;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
};

export function useForm<Values extends object, Answer = unknown>({
  values: saved,
  save,
  onDone,
  fields = {},
  check,
}: {
  /** The saved values; those of a new thing at first. */
  values: Values;
  save: (values: Values, changes: Partial<Values>) => Promise<Answer>;
  onDone?: (answer: Answer, values: Values) => void;
  /** The relay's names of fields that have another name here. */
  fields?: Readonly<Record<string, keyof Values & string>>;
  /** Rules that no attribute of an input can express. */
  check?: (values: Values) => Faults;
}): Form<Values> {
  const [edits, setEdits] = useState<Partial<Values>>({});
  const { faults, error, setFaults, element } = useFaults((name) => fields[name] ?? (name in saved ? name : null));
  const values = { ...saved, ...edits };
  const changes = Object.fromEntries(
    Object.entries(edits).filter(([name, value]) => !isSame(value, saved[name as keyof Values])),
  ) as Partial<Values>;
  const isChanged = Object.keys(changes).length > 0;
  const forget = useUnsaved(isChanged);
  const request = useRequest<{ values: Values; changes: Partial<Values> }, Answer>((sent) => save(sent.values, sent.changes), {
    onDone: (answer, sent) => {
      forget();
      setEdits({});
      onDone?.(answer, sent.values);
    },
    onError: setFaults,
  });
  const set: Form<Values>["set"] = (name, value) => {
    setEdits((all) => ({ ...all, [name]: value }));
    setFaults((all) => ({ ...all, [name]: undefined }));
  };
  const fault = (name: string) => faults[name] ?? null;
  return {
    values,
    changes,
    isChanged,
    isPending: request.isPending,
    error: error(request.error),
    fault,
    set,
    discard: () => {
      setEdits({});
      setFaults(null);
      request.reset();
    },
    text: (name) => ({
      name,
      value: values[name] as string,
      error: fault(name),
      ...(fault(name) === null ? {} : { "aria-invalid": true }),
      onChange: ({ currentTarget }) => set(name, currentTarget.value as Values[typeof name]),
    }),
    field: (name) => ({
      value: values[name],
      error: fault(name),
      onChange: (value) => {
        if (value !== null) set(name, value);
      },
    }),
    props: {
      ref: element,
      noValidate: true,
      onSubmit: (event) => {
        event.preventDefault();
        // A dialog in a form is drawn elsewhere on the page, and its events still arrive here.
        event.stopPropagation();
        const found = { ...findFaults(event.currentTarget), ...check?.(values) };
        setFaults(found);
        if (Object.keys(found).length === 0) request.mutate({ values, changes });
      },
    },
  };
}

const isSame = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);

/** Keeps the errors of fields. New ones put the focus on the first field that has one. */
export function useFaults(nameOf: (relayName: string) => string | null) {
  const [faults, setFaultsNow] = useState<Readonly<Record<string, string | undefined>>>({});
  const [round, setRound] = useState(0);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (round > 0) element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [round]);
  type Next = ApiError | Faults | null | ((all: Readonly<Record<string, string | undefined>>) => typeof faults);
  const setFaults = (next: Next) => {
    if (typeof next === "function") return setFaultsNow(next);
    const found = next instanceof Error ? faultsOf(next, nameOf) : (next ?? {});
    setFaultsNow(found);
    if (Object.keys(found).length > 0) setRound((rounds) => rounds + 1);
  };
  return {
    faults,
    setFaults,
    element,
    /** Returns the error unless all of it is shown at fields. */
    error: (all: ApiError | null) => (all && all.faults.some(({ field }) => nameOf(field) !== null) ? null : all),
  };
}

function faultsOf(error: ApiError, nameOf: (relayName: string) => string | null): Faults {
  const named = error.faults.flatMap(({ field, text }) => {
    const name = nameOf(field);
    return name === null ? [] : [[name, text] as const];
  });
  // The first fault of a field is the one to repair first.
  return Object.fromEntries(named.toReversed());
}
