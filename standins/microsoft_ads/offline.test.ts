import { describe, expect, test } from "vitest";
import { microsoftAds } from "./index.ts";
import { clickWith, unattributedReasons } from "./reports.ts";
import {
  authorizationCode,
  bearer,
  callback,
  type Fields,
  post,
  postForm,
  runStandin,
  tokenFields,
} from "../shared/testCalls.ts";

const { known } = microsoftAds;
const { handle: microsoft, advance } = await runStandin("microsoft_ads");

const emailSha256 = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";

const campaign = (operation: string, body: unknown, changes: Record<string, string> = {}) =>
  post(`${microsoft.origin}/CampaignManagement/v13/${operation}`, body, {
    ...bearer(known.accessToken),
    developertoken: known.developerToken,
    customerid: known.customerId,
    customeraccountid: known.accountId,
    ...changes,
  });

describe("offline conversions", () => {
  const row = (changes: Fields = {}): Fields => ({
    ConversionName: known.offlineGoal,
    ConversionTime: "2026-10-14T09:30:00Z",
    ConversionValue: 49.9,
    ConversionCurrencyCode: "EUR",
    MicrosoftClickId: "dd4afcccb1c94a4cad9544dd7e5006ab",
    HashedEmailAddress: emailSha256,
    ...changes,
  });
  const apply = (rows: unknown, changes?: Record<string, string>) =>
    campaign("OfflineConversions/Apply", { OfflineConversions: rows }, changes);

  test("the documented row is accepted", async () => {
    expect(await apply([row()])).toMatchObject({ status: 200, body: { PartialErrors: [] } });
    expect(microsoft.accepted).toHaveLength(1);
  });

  describe("adjustments", () => {
    const adjustment = (changes: Fields = {}): Fields => ({
      ConversionName: known.offlineGoal,
      ConversionTime: "2026-10-14T09:30:00Z",
      MicrosoftClickId: "dd4afcccb1c94a4cad9544dd7e5006ab",
      HashedEmailAddress: emailSha256,
      AdjustmentTime: "2026-10-15T09:30:00Z",
      AdjustmentType: "Restate",
      AdjustmentValue: 39.9,
      AdjustmentCurrencyCode: "EUR",
      ...changes,
    });
    const retraction = { AdjustmentType: "Retract", AdjustmentValue: undefined };
    const adjust = (rows: unknown) => campaign("OfflineConversionAdjustments/Apply", { OfflineConversionAdjustments: rows });
    const codes = async (changes: Fields) =>
      ((await adjust([adjustment(changes)])).body as { PartialErrors: { Code: number }[] }).PartialErrors.map(({ Code }) => Code);

    test("an uploaded row is restated, and then retracted once", async () => {
      await apply([row()]);
      expect(await codes({})).toEqual([]);
      expect(microsoft.accepted).toMatchObject([{ counted: 1, event: { AdjustmentValue: 39.9 } }]);
      expect(await codes(retraction)).toEqual([]);
      expect(await codes(retraction)).toEqual([5635]);
    });

    test.each<[string, Fields, number]>([
      ["a row that was never uploaded", { ConversionTime: "2026-10-14T09:31:00Z" }, 5634],
      ["an unknown type", { AdjustmentType: "Remove" }, 5630],
      ["a time before the conversion", { AdjustmentTime: "2026-10-13T09:30:00Z" }, 5631],
      ["no value", { AdjustmentValue: undefined }, 5632],
      ["a value with a retraction", { AdjustmentType: "Retract" }, 5632],
      ["a wrong currency", { AdjustmentCurrencyCode: "Euro" }, 5633],
      ["an unknown goal", { ConversionName: "Purchase" }, 5606],
    ])("an adjustment with %s is rejected", async (_what, changes, code) => {
      await apply([row()]);
      expect(await codes(changes)).toEqual([code]);
    });

    test("a field that the API does not know rejects the request", async () => {
      expect((await adjust([adjustment({ OrderId: "A-1" })])).status).toBe(400);
    });
  });

  test("the same click and time again counts once", async () => {
    await apply([row()]);
    await apply([row({ ConversionValue: 50 })]);
    expect(microsoft.accepted).toMatchObject([{ count: 2, counted: 1 }]);
  });

  test.each<[string, Fields, number]>([
    ["no goal", { ConversionName: undefined }, 5605],
    ["an unknown goal", { ConversionName: "Purchase" }, 5606],
    ["a goal of the last two hours", { ConversionName: known.newOfflineGoal }, 5615],
    ["no time", { ConversionTime: undefined }, 5607],
    ["a local time", { ConversionTime: "2026-10-14T09:30:00+02:00" }, 5608],
    ["a time of last spring", { ConversionTime: "2026-05-14T09:30:00Z" }, 5609],
    ["a time in the future", { ConversionTime: "2026-11-15T09:30:00Z" }, 5614],
    ["no identifier", { MicrosoftClickId: undefined, HashedEmailAddress: undefined }, 5603],
    ["an invalid click id", { MicrosoftClickId: "abc" }, 5604],
    ["an email in plain text", { HashedEmailAddress: "john@contoso.com" }, 5604],
    ["a value as text", { ConversionValue: "49.90" }, 5610],
    ["a currency in lower case", { ConversionCurrencyCode: "eur" }, 5611],
  ])("%s fails only its row", async (_, changes, code) => {
    const { status, body } = await apply([row(), row(changes)]);
    expect([status, body]).toMatchObject([200, { PartialErrors: [{ Index: 1, Code: code }] }]);
    expect(microsoft.accepted).toHaveLength(1);
    expect(microsoft.received[0]?.verdict).toBe("partial");
  });

  test("a hashed email alone is enough for an offline conversion", async () => {
    expect((await apply([row({ MicrosoftClickId: undefined })])).body).toEqual({ PartialErrors: [] });
  });

  test("a request with an unknown field is rejected as empty", async () => {
    const { status, text } = await apply([row({ OrderId: "1" })]);
    expect([status, text]).toEqual([400, expect.stringContaining('"OperationErrors":[{"Code":100')]);
  });

  test.each([
    ["an expired token", bearer(known.expiredToken), 401, 109],
    ["a revoked token", bearer(known.revokedToken), 401, 105],
    ["the tag's token", bearer(known.tagToken), 401, 105],
    ["a foreign developer token", { developertoken: "x" }, 401, 105],
    ["a foreign account", { customeraccountid: "1" }, 403, 106],
  ])("%s gives no access", async (_, changes, status, code) => {
    const answer = await apply([row()], changes);
    expect([answer.status, answer.body]).toMatchObject([status, { Errors: [{ Code: code }] }]);
  });

  test("a throttled response has the code 117", async () => {
    microsoft.fault({ kind: "throttle" });
    expect((await apply([row()])).body).toMatchObject({
      Errors: [{ Code: 117, ErrorCode: "CallRateExceeded" }],
    });
  });
});

describe("the pickers of Microsoft Advertising", () => {
  test("the pickers list the user, accounts, tags, goals and the tag's token", async () => {
    const customer = (operation: string, body: unknown) =>
      post(`${microsoft.origin}/CustomerManagement/v13/${operation}`, body, {
        ...bearer(known.accessToken),
        developertoken: known.developerToken,
      });
    expect((await customer("User/Query", { UserId: null })).body).toMatchObject({
      User: { Id: known.userId },
    });
    const predicate = { Field: "UserId", Operator: "Equals", Value: known.userId };
    const found = await customer("Accounts/Search", {
      PageInfo: { Index: 0, Size: 100 },
      Predicates: [predicate],
    });
    expect(found.body).toMatchObject({
      Accounts: [{ Id: known.accountId, ParentCustomerId: known.customerId }],
    });
    expect((await campaign("UetTags/QueryByIds", { TagIds: null })).body).toMatchObject({
      UetTags: [{ Id: known.uetTagId }, { Id: known.otherTagId }],
    });
    const goals = await campaign("ConversionGoals/QueryByIds", { ConversionGoalTypes: "OfflineConversion" });
    expect(goals.body).toMatchObject({ ConversionGoals: [{ Name: known.offlineGoal }, {}] });
    const ofTag = { TagIds: [known.uetTagId], ConversionGoalTypes: "Event OfflineConversion" };
    expect((await campaign("ConversionGoals/QueryByTagIds", ofTag)).body).toMatchObject({
      ConversionGoals: [{ Name: known.eventGoal }],
    });
    const key = { AuthKey: known.tagToken };
    const tag = known.uetTagId;
    expect((await campaign("UetTagAuthKey/Query", { TagId: tag })).body).toMatchObject({ TagAuthKey: key });
    expect((await campaign("UetTagAuthKey/Query", { UetTagId: tag })).body).toMatchObject({
      UetTagAuthKey: key,
    });
    expect((await campaign("UetTagAuthKey/Query", { TagId: "1" })).status).toBe(400);
  });
});

test("Microsoft's sign-in rotates the refresh token and rejects the old one in Microsoft's format", async () => {
  const code = await authorizationCode(microsoft, "/common/oauth2/v2.0/authorize", {
    client_id: known.clientId,
    scope: "https://ads.microsoft.com/msads.manage offline_access",
  });
  const token = async (fields: Record<string, string>) => {
    const client = { client_id: known.clientId, client_secret: known.clientSecret };
    const url = `${microsoft.origin}/common/oauth2/v2.0/token`;
    return tokenFields(await postForm(url, { ...client, ...fields }));
  };
  const first = await token({ grant_type: "authorization_code", code, redirect_uri: callback });
  const refresh = { grant_type: "refresh_token", refresh_token: first.refresh_token ?? "" };
  const second = await token(refresh);
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(await token(refresh)).toMatchObject({ error: "invalid_grant", error_codes: [70_000] });
  const access = bearer(second.access_token ?? "");
  expect((await campaign("UetTags/QueryByIds", {}, access)).status).toBe(200);
});

describe("reports of offline conversions", () => {
  const upload = (click: string, time: string) =>
    campaign("OfflineConversions/Apply", {
      OfflineConversions: [{ ConversionName: known.offlineGoal, ConversionTime: time, MicrosoftClickId: click }],
    });
  const report = (changes: Fields = {}) =>
    campaign("OfflineConversionReport/QueryByGoalIds", {
      StartDateUtc: "2026-11-14T00:00:00Z",
      EndDateUtc: "2026-11-15T00:00:00Z",
      GoalIds: ["7100002"],
      UploadChannelFilter: null,
      ...changes,
    });

  test("count rows by goal, day and reason, six hours later", async () => {
    const click = "dd4afcccb1c94a4cad9544dd7e5006ab";
    await upload(click, "2026-10-14T09:30:00Z");
    await upload(click, "2026-10-14T09:30:00Z");
    for (const reason of unattributedReasons) await upload(clickWith(reason), "2026-10-14T09:30:00Z");
    expect((await report()).body).toMatchObject({ OfflineGoalConversionSummaries: [{ DailySummaries: [] }] });
    advance(7 * 3_600_000);
    const { OfflineGoalConversionSummaries: goals } = (await report()).body as {
      OfflineGoalConversionSummaries: { DailySummaries: Fields[] }[];
    };
    expect(goals[0]?.DailySummaries).toMatchObject([
      { UploadDate: "2026-11-14T00:00:00Z", SuccessCount: "1", UnattributedCount: "15" },
    ]);
    const alerts = goals[0]?.DailySummaries[0]?.Alerts as { UnattributedReason: string; Count: string }[];
    expect(alerts.map(({ UnattributedReason }) => UnattributedReason).toSorted()).toEqual(unattributedReasons.toSorted());
    expect(alerts).toContainEqual({ UnattributedReason: "DuplicateConversionKey", Count: "2" });
  });

  test.each<[string, Fields]>([
    ["more than a week", { StartDateUtc: "2026-11-01T00:00:00Z" }],
    ["no goal", { GoalIds: [] }],
    ["more than twenty goals", { GoalIds: Array.from({ length: 21 }, String) }],
    ["a date without a time", { StartDateUtc: "2026-11-14" }],
  ])("a question about %s is rejected", async (_what, changes) => {
    expect((await report(changes)).status).toBe(400);
  });
});
