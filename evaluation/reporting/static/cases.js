"use strict";
// Unpacks the data, and draws the summary, the comparison, the filters and the list of cases.
const CHUNK = 200; // cases that are drawn at once
const BASES = ["checked", "judged", "approved", "unverified"];
const BASIS_WORDS = { checked: "checked by code", judged: "judged by a trusted model", approved: "approved by a person", unverified: "not verified" };
const part = (id) => document.getElementById(id);
const tally = (items) => items.reduce((counts, item) => counts.set(item, (counts.get(item) ?? 0) + 1), new Map());

async function unpack() {
  const bytes = Uint8Array.from(atob(part("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function drawSummary(data) {
  const { cases } = data;
  const attempts = cases.flatMap((item) => item.attempts);
  const verified = attempts.filter((attempt) => attempt.verified);
  const bases = tally(verified.map((attempt) => attempt.basis));
  const noun = attempts.length === cases.length ? "case" : "run";
  const count = (counts, names, words) => element("ul", { class: "counts" }, names.filter((name) => counts.get(name)).map((name) =>
    element("li", { class: name in WORDS ? `is-${name}` : "" }, element("strong", {}, counts.get(name).toLocaleString("en")), ` ${words[name]}`)));
  const first = data.first;
  part("summary").append(
    element("h2", { id: "summary-title", class: "visually-hidden" }, "Summary"),
    block("summary",
      drawHeadline(cases, attempts, verified.length),
      block("", element("h3", {}, "Status"), groupByArm(attempts).map(([arm, members]) => {
        const counts = tally(members.map((attempt) => attempt.status));
        return block("statuses", arm && element("p", {}, arm), drawBar(counts), count(counts, STATUSES, WORDS));
      })),
      block("", element("h3", {}, "What the verified rest on"), verified.length ? count(bases, BASES, BASIS_WORDS) : element("p", { class: "quiet" }, "No answer was verified."))),
    ...(first.length ? [block("first", element("h3", {}, "Look at first"), element("ul", {}, first.map(({ kind, level, runs, example }) => element("li", {},
      element("button", { type: "button", class: "link", onclick: () => filters.search(example) }, `${kind} (${level})`), span("quiet", ` ${countNoun(runs, noun)}: `), example))))] : []));
  part("summary").hidden = false;
}

function drawHeadline(cases, attempts, verified) {
  const arms = new Set(attempts.map((attempt) => attempt.arm)).size;
  // A share over several arms would say nothing of any.
  if (arms > 1) return block("headline", element("p", { class: "big" }, String(cases.length)), element("p", {}, cases.length === 1 ? "case" : "cases"),
    element("p", { class: "quiet" }, `${arms} models or policies, ${countNoun(attempts.length, "run")}`));
  const noun = attempts.length === cases.length ? "case" : "run";
  const clean = attempts.filter((attempt) => attempt.accepted && !attempt.verified).length;
  return block("headline", element("p", { class: "big" }, verified.toLocaleString("en")),
    element("p", {}, `of ${countNoun(attempts.length, noun)} verified`),
    clean > 0 && element("p", {}, `${countNoun(clean, noun)}: no defect found; the answer is not verified`),
    noun === "run" && element("p", { class: "quiet" }, countNoun(cases.length, "case")));
}
function drawBar(counts) {
  const bar = element("div", { class: "bar", "aria-hidden": "true" });
  for (const status of STATUSES.filter((name) => counts.get(name))) bar.appendChild(span(`is-${status}`)).style.flexGrow = counts.get(status);
  return bar;
}

function drawComparison({ arms }) {
  const isCompared = arms.length > 1, isRepeated = arms.some((arm) => arm.pass_k.length > 1);
  if (!isCompared && !isRepeated) return;
  const named = arms.map((arm, index) => ({ ...arm, number: isCompared ? index + 1 : null, name: arm.arm || (isCompared ? "(no name)" : "all runs") }));
  const figures = block("figures");
  if (isCompared) {
    addFigure(figures, "Success", "Share of the runs of a case that are accepted, as the mean of the cases, with its 95 % interval.", "arms", named);
    if (named.filter((arm) => arm.latency_ms != null).length > 1) {
      addFigure(figures, "Success against latency", "Further up is better, further left is faster. Median milliseconds a run.", "latency", named.filter((arm) => arm.latency_ms != null));
    }
  }
  if (isRepeated) addFigure(figures, "pass^k", "Chance that k trials of a case are all accepted, with its 95 % interval.", "repeats", named);
  part("comparison").append(element("h2", { id: "comparison-title" }, isCompared ? "Comparison" : "Repeated trials"), drawDistinction(named) ?? "", isCompared ? drawLegend(named) : "", figures, drawTable(named));
  part("comparison").hidden = false;
}
function drawDistinction(arms) {
  const compared = arms.filter((arm) => arm.difference);
  if (!compared.length) return null;
  const apart = compared.filter(({ difference }) => difference.is_shown);
  const names = apart.map((arm) => `${arm.name} (${arm.difference.value > 0 ? "better" : "worse"})`).join(", ");
  return element("p", { class: "lead" }, apart.length ? `These differ from ${arms[0].name}, by the corrected p-value of each paired difference: ${names}.` : `No difference to ${arms[0].name} can be told from chance with these cases.`);
}
const drawLegend = (arms) => element("ul", { class: "legend", "aria-label": "Numbers in the figures" }, arms.map((arm) => {
  const number = element("span", { class: "number" }, String(arm.number));
  number.style.background = colourOf(arm.number);
  return element("li", {}, number, ` ${arm.name}`);
}));
function addFigure(parent, title, caption, kind, data) {
  const canvas = block("canvas");
  parent.append(element("figure", { class: kind }, element("h3", {}, title), canvas, element("figcaption", {}, caption)));
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.round(entry.contentRect.width);
    if (Math.abs(width - drawn) < 8) return;
    drawn = width;
    canvas.replaceChildren(drawChart(kind, data, `${title}: ${caption} The table below has the figures.`, width));
  }).observe(canvas);
}
// How many attempts pay, for each model or policy, with the sentences of the terminal.
function drawWorth({ worth }) {
  if (!worth.length) return;
  part("worth").append(element("h2", { id: "worth-title" }, "Attempts that pay"), ...worth.flatMap((arm) => {
    const figures = block("figures"), share = (each) => each && `${percent(each.value)} (${percentInterval(each)})`;
    if (arm.points.every((point) => point.value)) addFigure(figures, "Value of a task", "Value of right acceptances less the loss by wrong ones and the cost, with its 95 % interval.", "worth", arm.points);
    addFigure(figures, "Acceptances", "Share of tasks that end with an acceptance, by what it is known to be.", "acceptances", arm.points);
    const columns = [["attempts", (point) => point.k], ["tasks", (point) => point.tasks], ["right", (point) => share(point.right)], ["wrong", (point) => share(point.wrong)], ["none", (point) => share(point.none)],
      ["mean attempts", (point) => point.attempts.toFixed(2)], ["mean cost", describeCost], ["value", (point) => point.value && `${asValue(point.value.value)} (${asValue(point.value.low)} to ${asValue(point.value.high)})`]];
    return [arm.arm && element("h3", {}, arm.arm), element("p", { class: "lead" }, arm.recommendation.sentence), figures, drawColumns(`Figures of the attempts of ${arm.arm || "the runs"}`, columns, arm.points),
      element("ul", {}, arm.sentences.map((sentence) => element("li", {}, sentence)))];
  }).filter(Boolean));
  part("worth").hidden = false;
}
const tenths = (value) => `${(100 * value).toFixed(1)} %`;
function drawTable(arms) {
  const count = (counts) => Object.entries(counts).map(([name, value]) => `${value} ${name}`).join(", ");
  const columns = [
    ["model or policy", (arm) => (arms.length > 1 ? `${arm.number}  ${arm.name}` : arm.name)],
    ["cases", (arm) => arm.cases], ["runs", (arm) => arm.runs],
    ...Array.from({ length: Math.max(...arms.map((arm) => arm.pass_k.length)) }, (_, index) => [index ? `pass^${index + 1}` : "success",
      (arm) => arm.pass_k[index] && `${tenths(arm.pass_k[index].value)} (${percentInterval(arm.pass_k[index])})`]),
    ["difference to the first", (arm) => arm.difference && `${(100 * arm.difference.value).toFixed(0)} points (${(100 * arm.difference.low).toFixed(0)} to ${(100 * arm.difference.high).toFixed(0)})`],
    ["accepted runs", (arm) => `${arm.accepted} of ${arm.runs}`],
    ["rest on", (arm) => count(arm.bases)],
    ["accepted but wrong", (arm) => (arm.known ? `${arm.wrong} of ${arm.known}` : null)],
    ["median latency", (arm) => arm.latency_ms != null && measure.latency_ms(arm.latency_ms)],
    ["median tokens", (arm) => arm.total_tokens != null && measure.total_tokens(arm.total_tokens)],
    ["median cost", (arm) => arm.cost_usd != null && measure.cost_usd(arm.cost_usd)],
  ].filter(([, read]) => arms.some((arm) => read(arm)));
  return drawColumns("Figures of the comparison", columns, arms);
}
function drawColumns(label, columns, rows) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, element("table", {},
    element("thead", {}, element("tr", {}, columns.map(([name]) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, columns.map(([, read], index) =>
      element(index ? "td" : "th", index ? {} : { scope: "row" }, String(read(row) || "–"))))))));
}

// Reads the state of the controls, and says which cases they leave.
const filters = {
  chosen: new Set(),
  search(text) {
    part("filter-text").value = text;
    applyFilters();
    part("cases").scrollIntoView();
    part("filter-text").focus({ preventScroll: true });
  },
  allow(item) {
    const basis = part("filter-basis").value, arm = part("filter-arm")?.value ?? "", changed = part("filter-changed")?.value ?? "";
    const text = part("filter-text").value.trim().toLowerCase();
    return (!changed || item[changed]) && item.attempts.some((each) => (!text || searchText(item, each).includes(text)) &&
      (!this.chosen.size || this.chosen.has(each.status)) && (!basis || each.basis === basis) && (!arm || `=${each.arm}` === arm));
  },
};
function searchText(item, each) {
  each.text ??= JSON.stringify([item.name, each.task, each.arm, each.reasons, each.agent_run.final_output,
    listRequirements(each).map((one) => [one.wanted, one.quote, one.seen]), asArray(each.actions.actions).map((action) => [action.name, action.args])])
    .replaceAll('\\"', '"').replaceAll("\\n", " ").toLowerCase();
  return each.text;
}

function drawFilters({ arms }, items) {
  const attempts = items.flatMap((item) => item.attempts), counts = tally(attempts.map((attempt) => attempt.status));
  const toggle = (status) => (event) => {
    filters.chosen[filters.chosen.has(status) ? "delete" : "add"](status);
    event.currentTarget.setAttribute("aria-pressed", filters.chosen.has(status));
    applyFilters();
  };
  const select = (id, label, options) => element("label", { class: "field" }, element("span", {}, label),
    element("select", { id, oninput: applyFilters }, options.map(([value, text]) => element("option", { value }, text))));
  const changed = [["changes", "between models or policies"], ["flaky", "between trials"]].filter(([name]) => items.some((item) => item[name]));
  let timer = 0;
  return element("form", { class: "filters", role: "search", "aria-label": "Filter the cases" },
    element("label", { class: "field wide" }, element("span", {}, "Text"),
      element("input", { id: "filter-text", type: "search", placeholder: "name, task, reason, tool …", oninput: () => { clearTimeout(timer); timer = setTimeout(applyFilters, 120); } })),
    element("fieldset", { class: "field" }, element("legend", {}, "Status"), block("toggles", STATUSES.filter((status) => counts.get(status)).map((status) =>
      element("button", { type: "button", class: `is-${status}`, "aria-pressed": "false", onclick: toggle(status) },
        span("mark", element("span", { "aria-hidden": "true" }, MARKS[status])), ` ${WORDS[status]} `, span("quiet", String(counts.get(status))))))),
    select("filter-basis", "Rests on", [["", "anything"], ...BASES.filter((basis) => attempts.some((each) => each.basis === basis)).map((basis) => [basis, basis])]),
    arms.length > 1 && select("filter-arm", "Model or policy", [["", "all"], ...arms.map((arm) => [`=${arm.arm}`, arm.arm || "(no name)"])]),
    changed.length > 0 && select("filter-changed", "Verdict changes", [["", "any"], ...changed]));
}

const list = { items: [], matching: [], drawn: 0 };
function drawList(data) {
  list.items = data.cases.map((item) => ({ ...item, changes: differs(item), flaky: isFlaky(item) }));
  const form = drawFilters(data, list.items);
  form.addEventListener("submit", (event) => event.preventDefault());
  part("cases").append(element("h2", { id: "cases-title" }, "Cases"), form,
    element("p", { id: "count", class: "quiet", role: "status" }), element("ol", { id: "list", class: "cases", style: `--strip: ${stripWidth(list.items)}rem` }),
    element("button", { id: "more", type: "button", onclick: drawMore }));
  part("cases").hidden = false;
  applyFilters();
}
// The width in which the marks of all attempts of a case stand in one line, within bounds.
function stripWidth(items) {
  const widths = items.map(({ attempts }) => 1.45 * attempts.length + 0.4 * new Set(attempts.map((each) => each.arm)).size);
  return Math.min(20, Math.max(8.5, ...widths));
}
// Whether the share of accepted attempts differs between the groups of a case.
function differs({ attempts }) {
  return new Set(groupByArm(attempts).map(([, group]) => group.filter((each) => each.accepted).length / group.length)).size > 1;
}
const isFlaky = ({ attempts }) => groupByArm(attempts).some(([, group]) => new Set(group.map((each) => each.accepted)).size > 1);

function applyFilters() {
  list.matching = list.items.filter((item) => filters.allow(item));
  list.drawn = 0;
  part("list").replaceChildren();
  const all = list.items.length;
  part("count").textContent = list.matching.length === all ? countNoun(all, "case") : `${list.matching.length.toLocaleString("en")} of ${countNoun(all, "case")}`;
  drawMore();
}
function drawMore() {
  const next = list.matching.slice(list.drawn, list.drawn + CHUNK), isFirst = list.drawn === 0;
  const rows = next.map(drawRow);
  part("list").append(...rows);
  list.drawn += next.length;
  const left = list.matching.length - list.drawn;
  part("more").hidden = left === 0;
  part("more").textContent = `Show ${Math.min(left, CHUNK)} more (${left.toLocaleString("en")} left)`;
  if (!isFirst) rows[0]?.querySelector("button").focus();
}
function drawRow(item) {
  const { attempts } = item, accepted = attempts.filter((each) => each.accepted);
  const reason = attempts.find((each) => !each.accepted)?.reasons[0] ?? attempts[0].reasons[0] ?? attempts[0].task;
  const strip = span("strip", attempts.map((each, index) => element("span", { class: `is-${each.status}${index && attempts[index - 1].arm !== each.arm ? " next-arm" : ""}`, "aria-hidden": "true" }, MARKS[each.status])),
    hidden([...tally(attempts.map((each) => each.status))].map(([name, count]) => `${count} ${WORDS[name]}`).join(", ")));
  const bases = [...new Set(accepted.map((each) => each.basis))];
  const button = element("button", { type: "button", "aria-expanded": "false", onclick: () => toggleCase(row, button, item) },
    attempts.length > 1 ? strip : statusBadge(attempts[0].status),
    span("case-name", item.name), span("case-reason", reason || ""), bases.length > 0 && span("basis", bases.map((basis) => BASIS_WORDS[basis] ?? basis).join(", ")));
  const row = element("li", {}, element("h3", {}, button));
  return row;
}
function toggleCase(row, button, item) {
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", !isOpen);
  if (isOpen) row.lastChild.remove();
  else row.append(drawCase(item));
}

unpack().then((data) => {
  document.title = data.title;
  part("title").textContent = data.title;
  drawWorth(data);
  document.querySelector(".skip").hidden = !data.cases.length;
  if (data.cases.length) {
    drawSummary(data);
    drawComparison(data);
    drawList(data);
  }
  part("loading").remove();
}).catch((error) => {
  part("loading").textContent = `The results cannot be shown (${error.message}). The page needs a browser of 2023 or later.`;
  throw error;
});
