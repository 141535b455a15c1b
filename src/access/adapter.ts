// Adapts our store to better-auth, which uses models, fields, dates and booleans; the store has tables, columns,
// milliseconds and 0 or 1.

import { createAdapterFactory } from "better-auth/adapters";
import type { Condition, Operator } from "../store/access/accounts.ts";
import type { Row, Value } from "../store/engine/database.ts";
import type { Store } from "../store/store.ts";

type Clause = {
  field: string;
  value: unknown;
  operator?: string | undefined;
  connector?: string | undefined;
  mode?: string | undefined;
};
type Target = { model: string; where: readonly Clause[] };

const supported: readonly string[] = ["eq", "ne", "lt", "lte", "gt", "gte", "in"];

/** Throws for a condition that better-auth never used before, rather than answer it wrongly. */
function toCondition(clause: Clause, index: number): Condition {
  const { field, value, operator = "eq", connector = "AND", mode } = clause;
  if (!supported.includes(operator) || (index > 0 && connector !== "AND") || mode === "insensitive")
    throw new Error(`better-auth uses an unsupported condition: ${connector} ${field} ${operator}`);
  return { column: field, operator: operator as Operator, value: value as Value };
}

const toConditions = (where: readonly Clause[] = []) => where.map(toCondition);

export function betterAuthAdapter({ accounts }: Pick<Store, "accounts">, newId: () => string) {
  return createAdapterFactory({
    config: {
      adapterId: "cleancast",
      supportsBooleans: false,
      supportsDates: true,
      supportsJSON: false,
      supportsNumericIds: false,
      customIdGenerator: newId,
      customTransformInput: ({ data }) => (data instanceof Date ? data.getTime() : data),
      customTransformOutput: ({ data, fieldAttributes }) =>
        fieldAttributes.type === "date" && typeof data === "number" ? new Date(data) : data,
    },
    // better-auth's types let a caller choose the shape of a row; ours is what the table holds, hence the casts.
    adapter: ({ getFieldName }) => ({
      async create<T extends Record<string, unknown>>({ model, data }: { model: string; data: T }) {
        await accounts.insert(model, data as Row);
        return data;
      },
      async findOne<T>({ model, where }: Target) {
        const [row] = await accounts.find(model, toConditions(where), { limit: 1 });
        return (row ?? null) as T | null;
      },
      async findMany<T>({
        model,
        where,
        limit,
        offset,
        sortBy,
      }: {
        model: string;
        where?: readonly Clause[] | undefined;
        limit: number;
        offset?: number | undefined;
        sortBy?: { field: string; direction: string } | undefined;
      }) {
        // Conditions name columns; the sort order names better-auth's fields.
        const order = sortBy ? { orderBy: `${getFieldName({ model, field: sortBy.field })} ${sortBy.direction}` } : {};
        const rows = await accounts.find(model, toConditions(where), {
          limit,
          offset: offset ?? 0,
          ...order,
        });
        return rows as T[];
      },
      count: ({ model, where }: { model: string; where?: readonly Clause[] | undefined }) =>
        accounts.count(model, toConditions(where)),
      async update<T>({ model, where, update }: Target & { update: T }) {
        // A new secret never replaces one that its user has confirmed meanwhile.
        const unconfirmed: Condition[] =
          model === "two_factors" && "secret" in (update as Row) ? [{ column: "verified", operator: "eq", value: 0 }] : [];
        const [row] = await accounts.update(model, [...toConditions(where), ...unconfirmed], update as Row);
        return (row ?? null) as T | null;
      },
      async updateMany({ model, where, update }: Target & { update: Record<string, unknown> }) {
        return (await accounts.update(model, toConditions(where), update as Row)).length;
      },
      async delete({ model, where }: Target) {
        await accounts.remove(model, toConditions(where));
      },
      async deleteMany({ model, where }: Target) {
        return (await accounts.remove(model, toConditions(where))).length;
      },
      async consumeOne<T>({ model, where }: Target) {
        return (await accounts.take(model, toConditions(where))) as T | null;
      },
      async incrementOne<T>({
        model,
        where,
        increment,
        set = {},
      }: Target & { increment: Record<string, number>; set?: Record<string, unknown> | undefined }) {
        const [row] = await accounts.update(model, toConditions(where), set as Row, increment);
        return (row ?? null) as T | null;
      },
    }),
  });
}
