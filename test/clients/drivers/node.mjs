// Runs one call of the Node client per line. See languages.ts.

const [, , folder] = process.argv;
const { Cleancast, CleancastError } = await import(`${folder}/cleancast.js`);
const { createInterface } = await import("node:readline");
const { inspect } = await import("node:util");

for await (const line of createInterface({ input: process.stdin })) {
  const { call, options, conversions } = JSON.parse(line);
  console.log(JSON.stringify(await run(call, options, conversions)));
}

async function run(call, options, conversions) {
  let client;
  try {
    client = new Cleancast({ ...options, batchBudgetMs: options.budgetMs });
  } catch (error) {
    return { invalid: error.message, dump: inspect(error, { showHidden: true }) };
  }
  const dump = `${inspect(client, { showHidden: true })} ${JSON.stringify(client)} ${String(client)}`;
  try {
    if (call === "sendBatch") return { outcomes: await client.sendBatch(conversions), dump };
    return { outcomes: [await client.send(conversions[0])], dump };
  } catch (error) {
    if (!(error instanceof CleancastError)) throw error;
    const { status, message, retryable, retryAfterMs } = error;
    const outcome = { ok: false, status, error: message, retryable, retryAfterMs };
    return { outcomes: [outcome], dump: dump + inspect(error, { showHidden: true }) };
  }
}
