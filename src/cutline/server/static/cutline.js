// Keys, the next item fetched ahead, live numbers and copying. Every page works without it: it does nothing but follow
// the links and send the forms that stand in the page, without leaving it.

const LOOK = 2000; // milliseconds between two looks at whether anything has changed
const AGAIN = 2000; // milliseconds until what could not be sent is sent again
const DOUBLE = 500; // milliseconds in which a second click belongs to the first, and means no item that came meanwhile

const main = () => document.querySelector("main");
const pause = (time) => new Promise((done) => setTimeout(done, time));

async function page(url) {
  const answer = await fetch(url, { credentials: "same-origin", cache: "no-store" });
  const text = await answer.text();
  return { url: answer.url, page: new DOMParser().parseFromString(text, "text/html") };
}

function say(text) {
  document.getElementById("said").textContent = text;
}

// The page to label on

let ahead = null; // the promise of the next page
let pull_ahead = null; // its pull, which is leased already
let sending = Promise.resolve();
let unsent = 0;
let moving = false;
let shown_at = -DOUBLE;

function look_ahead() {
  pull_ahead = null;
  const next = main().dataset.next;
  ahead = next ? page(next).then(load_media).catch(() => null) : null;
}

function load_media(found) {
  const fetched = found.page.querySelector("main");
  if (!fetched || !fetched.dataset.pull) return null;
  pull_ahead = fetched.dataset.pull;
  for (const picture of fetched.querySelectorAll("img")) new Image().src = picture.src;
  return found;
}

function show({ url, page }, push) {
  const next = document.importNode(page.querySelector("main"), true);
  main().replaceWith(next);
  document.title = page.title;
  if (push) history.pushState(null, "", url);
  shown_at = performance.now();
  scrollTo(0, 0);
  document.getElementById("item")?.focus({ preventScroll: true });
  start_page();
}

async function go(url, push = true) {
  main().setAttribute("aria-busy", "true");
  try {
    show(await page(url), push);
  } catch {
    main().removeAttribute("aria-busy");
    say("The server cannot be reached. Trying again…");
    await pause(AGAIN);
    await go(url, push);
  }
}

async function post(form, body) {
  for (;;) {
    try {
      const headers = { Accept: "application/json" };
      const answer = await fetch(form.action, { method: "POST", body, headers, credentials: "same-origin" });
      if (answer.status < 500) return await answer.json();
    } catch {
      // no connection: what is sent counts once, so it is sent until it arrives
    }
    say("Not stored yet: the server cannot be reached. Trying again…");
    await pause(AGAIN);
  }
}

async function answer(form, button) {
  if (moving) return;
  moving = true;
  const body = new URLSearchParams(new FormData(form, button));
  unsent += 1;
  const sent = sending.then(() => post(form, body)).finally(() => (unsent -= 1));
  sending = sent;
  const next = await ahead;
  say("");
  if (next) {
    if (form.dataset.skip) keep_undo(next.page);
    show(next, true);
    moving = false;
    report(await sent);
    return;
  }
  const told = await sent;
  await go(told.next || location.href);
  report(told);
  moving = false;
}

function keep_undo(page) {
  // after an item was skipped, undo still goes back to the last answer
  const [before, after] = [document.getElementById("undo"), page.getElementById("undo")];
  if (!before) {
    after.remove();
    return;
  }
  const address = new URL(after.href, location.href);
  address.searchParams.set("pull", new URL(before.href).searchParams.get("pull"));
  after.href = address.href;
}

function report(told) {
  say(told.said || told.detail || "");
  if (told.answered === undefined) return;
  document.getElementById("answered").textContent = told.answered;
  document.getElementById("far").value = told.spent;
}

function give_back() {
  const form = document.getElementById("back");
  if (!form) return;
  const body = new URLSearchParams(new FormData(form));
  for (const pull of [main().dataset.open, pull_ahead]) if (pull) body.append("pull", pull);
  if (body.has("pull")) navigator.sendBeacon(form.action, body);
}

function key_of(event) {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

function press(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const key = key_of(event);
  if (event.target.closest("audio") && !/^\p{L}$/u.test(key)) return; // the other keys play and stop it
  for (const target of main().querySelectorAll("[data-keys]")) {
    if (target.dataset.keys.split(" ").includes(key)) {
      event.preventDefault();
      target.click();
      return;
    }
  }
}

async function wait_for_work() {
  const waiting = main();
  await pause(Number(waiting.dataset.wait) * 1000);
  if (waiting.isConnected) await go(location.href, false);
}

function start_labelling() {
  look_ahead();
  for (const form of main().querySelectorAll("form.answer")) {
    form.addEventListener("click", (event) => {
      if (event.detail && performance.now() - shown_at < DOUBLE) event.preventDefault(); // a key has no detail
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer(form, event.submitter);
    });
  }
  for (const link of main().querySelectorAll("a[data-go]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      sending.then(() => go(link.href));
    });
  }
}

// Pages whose numbers change while one looks

async function look(url) {
  const answer = await fetch(url, { credentials: "same-origin", cache: "no-store" });
  return answer.ok ? (await answer.json()).state : null;
}

async function stay_current() {
  const shown = main();
  while (shown.isConnected) {
    await pause(LOOK);
    if (document.hidden) continue;
    try {
      const state = await look(shown.dataset.pulse);
      if (state === null || state === shown.dataset.state) continue;
      const fresh = await page(location.href);
      for (const part of shown.querySelectorAll("[data-live]")) replace(part, fresh.page.getElementById(part.id));
      shown.dataset.state = fresh.page.querySelector("main").dataset.state;
    } catch {
      // the server is away: the numbers stay as they are until it is back
    }
  }
}

function replace(part, fresh) {
  if (!fresh || part.contains(document.activeElement) || part.outerHTML === fresh.outerHTML) return;
  part.replaceWith(document.importNode(fresh, true));
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source); // no access to the clipboard: it is marked, to be copied by hand
    button.textContent = "Marked: copy it";
  }
}

function log_in() {
  // the token of a link stands behind the #, which no server and no log sees
  const form = document.getElementById("login");
  const token = decodeURIComponent(location.hash.slice(1));
  if (!form || !token.startsWith("cutline_")) return;
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.token.value = token;
  form.requestSubmit();
}

function start_page() {
  const shown = main();
  if (shown.dataset.labelling) start_labelling();
  if (shown.dataset.wait) wait_for_work();
  if (shown.dataset.pulse) stay_current();
  for (const button of shown.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}

log_in();
if (main().dataset.labelling) {
  addEventListener("keydown", press);
  addEventListener("popstate", () => go(location.href, false));
  addEventListener("pagehide", give_back);
  document.querySelector("header form")?.addEventListener("submit", give_back); // while the login is good
  addEventListener("pageshow", (event) => event.persisted && go(location.href, false));
  addEventListener("beforeunload", (event) => unsent && event.preventDefault());
}
start_page();
