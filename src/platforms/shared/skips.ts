// Why platforms skip conversions. A platform lists the rules that it has, in the order in which they are asked; the sentences of the
// usual ones, and the texts of the documentation, follow from the list.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, Platform, SkipRule, UsualSkip } from "../platform.ts";
import { chosenSetting, eventNameOf, eventNamesOf, usualEventOf } from "./eventNames.ts";
import { withRuledValue } from "../valueRules.ts";

/** Returns why this conversion cannot be sent at all; null when it can. */
export function skipOf(platform: Platform, conversion: Conversion, settings: ConnectionSettings): SkipRule | null {
  const ruled = withRuledValue(conversion, settings);
  return skipRulesOf(platform).find(({ applies }) => applies(ruled, settings)) ?? null;
}

const rulesByPlatform = new WeakMap<Platform, readonly SkipRule[]>();

export function skipRulesOf(platform: Platform): readonly SkipRule[] {
  let rules = rulesByPlatform.get(platform);
  if (!rules) {
    rules = (platform.skips ?? []).flatMap((one) => (typeof one === "string" ? usual[one](platform) : one));
    rulesByPlatform.set(platform, rules);
  }
  return rules;
}

const rule = (code: string, reason: string, applies: SkipRule["applies"]): SkipRule => ({ code, reason, applies });

const usual: Record<UsualSkip, (platform: Platform) => SkipRule | readonly SkipRule[]> = {
  no_test_mode: ({ name }) => rule("no_test_mode", `${name} has no test mode`, ({ mode }) => mode === "test"),

  // Without the code, a test event would count as a live one.
  no_test_code: ({ settings: declared }) =>
    declared
      .filter(({ testCode }) => testCode)
      .map(({ name, label }) =>
        rule(
          "no_test_code",
          `test event, but the connection has no ${label.toLowerCase()}`,
          ({ mode }, settings) => mode === "test" && !settings[name],
        ),
      ),

  opted_out: () => rule("opted_out", "opted out", ({ consent }) => consent === "denied"),

  no_refunds: ({ name, corrections }) => {
    const remedy = corrections ? "; with corrections=on, the purchase is corrected" : "";
    return rule("no_refunds", `${name} takes no refunds${remedy}`, isUnnamedRefund);
  },

  no_target: ({ events }) =>
    rule(
      "no_target",
      `no ${events?.target} for this event`,
      (conversion, settings) => !events || eventNamesOf(conversion, settings, events).length === 0,
    ),

  // After an opt-out there are mostly none.
  no_match_key: ({ matchKeys }) =>
    matchKeys
      ? [
          rule("opted_out", "opted out", (one, settings) => one.consent === "denied" && !matchKeys.has(one, settings)),
          rule("no_match_key", `no ${matchKeys.names}`, (one, settings) => !matchKeys.has(one, settings)),
        ]
      : [],

  no_value: ({ name, events }) =>
    rule(
      "no_value",
      `${name} requires a value with ${events?.withValue}`,
      (one, settings) => !!events && one.value === null && eventNameOf(one, settings, events) === events.withValue,
    ),
};

/** True for a refund without a name chosen for it: no advertising platform can revoke a conversion's value. */
export function isUnnamedRefund({ name }: Conversion, settings: ConnectionSettings): boolean {
  return usualEventOf(name) === "refund" && chosenSetting(name, settings) === null;
}

/** The guide of a platform has its own text where more is to be said than follows from the rules. */
export const testModeText = ({ name, guide }: Platform): string =>
  guide?.testMode ?? `${name} has no test mode: events of test keys are skipped.`;

export const consentText = ({ name, guide }: Platform): string =>
  guide?.consent ?? `${name} has no consent flag: events of people who opted out are skipped.`;
