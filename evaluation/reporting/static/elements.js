"use strict";
// Builds elements. A child that is a string becomes a text node, so that nothing of the data is read as HTML.
const MARKS = { passed: "✓", clean: "–", warning: "!", needs_review: "?", failed: "✗", invalid: "∅" };
const WORDS = { passed: "passed", clean: "no defect found; the answer is not verified", warning: "warning", needs_review: "needs review", failed: "failed", invalid: "invalid" };
const STATUSES = Object.keys(MARKS);

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick" || name === "oninput" || name === "ontoggle") node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}
const block = (name, ...children) => element("div", { class: name }, ...children);
const span = (name, ...children) => element("span", { class: name }, ...children);
const hidden = (text) => span("visually-hidden", text);
const asArray = (value) => (Array.isArray(value) ? value : []);
const asObject = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : {});

// A mark that says by its shape what its colour says.
function statusBadge(status) {
  return span(`badge is-${status}`, element("span", { "aria-hidden": "true" }, MARKS[status] ?? "?"), ` ${WORDS[status] ?? status}`);
}
function outcomeMark(passed) {
  const [name, mark, word] =
    passed === true ? ["passed", "✓", "met"] : passed === false ? ["failed", "✗", "not met"] : ["needs_review", "?", "undecided"];
  return span(`mark is-${name}`, element("span", { "aria-hidden": "true" }, mark), hidden(word));
}
function disclose(title, fill, attributes = {}) {
  // Its content is built when it is opened for the first time.
  let isFilled = false;
  const body = block("disclosed");
  const fillOnce = (event) => {
    if (!event.currentTarget.open || isFilled) return;
    isFilled = true;
    body.append(...[fill()].flat());
  };
  return element("details", { ...attributes, ontoggle: fillOnce }, element("summary", {}, title), body);
}
const formatJson = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "");
function textBlock(text, label) {
  // Long lines are wrapped, and long texts scroll, so the block can be reached by keyboard.
  return element("pre", { tabindex: "0", role: "group", "aria-label": label }, text);
}
const countNoun = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const percent = (value) => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
const percentInterval = (each) => `${percent(each.low)} to ${percent(each.high)}`;
const measure = {
  latency_ms: (value) => (value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`),
  total_tokens: (value) => Math.round(value).toLocaleString("en"),
  cost_usd: (value) => `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`,
};
const groupByArm = (attempts) => [...attempts.reduce((groups, each) => groups.set(each.arm, [...(groups.get(each.arm) ?? []), each]), new Map())];
// "every attempt", or the runs of each arm, from 1: "local (runs 1, 3), qwen3".
function nameAttempts(named, all) {
  if (named.length === all.length) return "every attempt";
  return groupByArm(named).map(([arm, members]) => {
    const trials = `${members.length > 1 ? "runs" : "run"} ${members.map((each) => each.trial + 1).join(", ")}`;
    const isWhole = members.length === all.filter((each) => each.arm === arm).length;
    return arm ? (isWhole ? arm : `${arm} (${trials})`) : trials;
  }).join(", ");
}
