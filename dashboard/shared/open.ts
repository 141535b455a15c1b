// Opens a shared link: exchanges the token in the address's fragment, which browsers never send by themselves, for a cookie.

type State = "opening" | "ended" | "tooMany" | "away" | "password";

const token = location.hash.slice(1);
const password = document.querySelector<HTMLInputElement>("#password");
const wrong = document.querySelector<HTMLElement>("#wrong");
const retryMs = 5000;

function show(state: State): void {
  for (const one of document.querySelectorAll<HTMLElement>("[data-state]")) one.hidden = one.dataset["state"] !== state;
  if (state === "password") password?.focus();
}

async function open(given?: string): Promise<void> {
  if (token === "") return show("ended");
  const answer = await fetch(`${location.pathname}/open`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, ...(given === undefined ? {} : { password: given }) }),
  }).catch(() => null);
  if (answer === null || answer.status >= 500) {
    show("away");
    // A screen may start before the relay does.
    setTimeout(() => void open(given), retryMs * (1 + Math.random()));
  } else if (answer.status === 204) location.reload();
  else if (answer.status === 401) {
    const { password: state } = (await answer.json()) as { password: "needed" | "wrong" };
    if (wrong) wrong.hidden = state !== "wrong";
    show("password");
    password?.select();
  } else show(answer.status === 429 ? "tooMany" : "ended");
}

document.querySelector("form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  void open(password?.value ?? "");
});
void open();
