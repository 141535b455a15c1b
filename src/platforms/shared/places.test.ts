import { describe, expect, test } from "vitest";
import { placeForms } from "./places.ts";

describe("places of residence", () => {
  test.each([
    ["California", "ca"],
    ["CA", "ca"],
    ["new york", "ny"],
    ["Washington, D.C.", "dc"],
    ["Ontario", "on"],
    ["Québec", "qc"],
    ["Nordrhein-Westfalen", "nordrheinwestfalen"],
  ])("the state %s is %s", (state, form) => {
    expect(placeForms.state(state)).toBe(form);
  });

  test.each([
    ["DE", "de"],
    ["us", "us"],
    ["Germany", "de"],
    ["United States", "us"],
    ["United States of America", "us"],
    ["USA", "us"],
    ["UK", "gb"],
    ["United Kingdom", "gb"],
    ["Côte d’Ivoire", "ci"],
    ["south korea", "kr"],
    ["Atlantis", ""],
    ["DEU2", ""],
    ["", ""],
  ])("the country %j is %j", (country, code) => {
    expect(placeForms.country(country)).toBe(code);
  });

  test.each([
    ["94103-1234", "94103"],
    ["SW1A 1AA", "sw1a1aa"],
    ["01310-100", "01310100"],
    ["00-950", "00950"],
    ["100-0001", "1000001"],
  ])("the postal code %s is %s", (zip, form) => {
    expect(placeForms.zip(zip)).toBe(form);
  });
});
