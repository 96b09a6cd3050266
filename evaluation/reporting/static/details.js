"use strict";
// Draws the details of one case. Every function returns elements; they are built when a case is opened.
const section = (title, ...children) => block("part", element("h4", {}, title), ...children);

function drawCase(item) {
  const { attempts } = item;
  const shown = block("attempt");
  const show = (index) => {
    shown.replaceChildren(...drawAttempt(attempts[index]));
    for (const [place, button] of buttons.entries()) button.setAttribute("aria-pressed", place === index);
  };
  const buttons = attempts.map((attempt, index) => element("button", { type: "button", class: `is-${attempt.status}`, onclick: () => show(index) },
    span("mark", element("span", { "aria-hidden": "true" }, MARKS[attempt.status]), hidden(WORDS[attempt.status])), ` run ${attempt.trial + 1}`));
  const picker = groupByArm(attempts).map(([arm, members]) => element("div", { class: "picker", role: "group", "aria-label": `Attempts ${arm}` },
    arm && span("arm", arm), members.map((attempt) => buttons[attempts.indexOf(attempt)])));
  show(Math.max(0, attempts.findIndex((attempt) => !attempt.accepted)));
  return block("case-body",
    attempts[0].task && section("Task", element("p", { class: "text" }, attempts[0].task)),
    section("Requirements", drawRequirements(attempts)),
    attempts.length > 1 && section("Attempts", picker),
    shown);
}

function drawAttempt(attempt) {
  const report = asObject(attempt.report), run = asObject(attempt.agent_run);
  const output = run.final_output;
  return [
    drawVerdict(attempt),
    section("What the verdict rests on", drawEvidence(attempt)),
    drawActions(attempt),
    typeof output === "string" && section("Answer", element("p", { class: "text answer" }, output)),
    block("part more",
      asArray(run.messages).length > 0 && disclose(`Conversation (${countNoun(run.messages.length, "message")})`, () => drawConversation(run.messages)),
      disclose("Recorded run", () => textBlock(formatJson(run), "Recorded run")),
      disclose("Contract", () => textBlock(formatJson(attempt.expected), "Contract")),
      disclose("Evaluation report", () => textBlock(formatJson(report), "Evaluation report"))),
  ].filter(Boolean);
}

function drawVerdict(attempt) {
  const facts = [attempt.accepted && !attempt.verified ? "nothing refuses it" : attempt.accepted ? "accepted" : "not accepted"];
  if (attempt.verified) facts.push(`rests on: ${attempt.basis}`);
  if (attempt.correct != null) facts.push(attempt.correct ? "the answer is right" : attempt.accepted ? "accepted, but the answer is wrong" : "the answer is wrong");
  const run = asObject(attempt.agent_run);
  for (const [name, format] of Object.entries(measure)) {
    const value = run[name] ?? asObject(run.metadata)[name];
    if (typeof value === "number") facts.push(name === "total_tokens" ? `${format(value)} tokens` : format(value));
  }
  return block("verdict",
    element("p", {}, statusBadge(attempt.status), ` ${facts.join(" · ")}`),
    attempt.reasons.length > 0 && element("ul", {}, attempt.reasons.map((reason) => element("li", {}, reason))));
}

// The requirements of a report: its checks, the bounds of metrics, audit findings and the judge's criteria.
function listRequirements(attempt) {
  const report = asObject(attempt.report), checks = asArray(report.checks);
  const sentences = new Set(checks.map((check) => check.sentence));
  const metrics = Object.values(asObject(report.metrics)).flatMap((group) => asArray(asObject(group).checks));
  const judged = asObject(asObject(report.judge).result);
  return [
    ...checks.map((check) => ({ wanted: check.wanted, quote: check.quote, source: check.source, covers: check.covers,
      severity: check.severity, passed: check.passed, seen: check.seen, evidence: check.evidence })),
    ...metrics.filter((outcome) => !sentences.has(outcome.reason) && outcome.severity !== "info").map((outcome) => ({
      wanted: describeBound(outcome, asObject(asObject(report.metrics).trajectory).match_mode), source: "contract", covers: outcome.kind, severity: outcome.severity,
      passed: outcome.passed, seen: describeObserved(outcome) })),
    ...asArray(report.audit_findings).map((finding) => ({ wanted: `Audit: ${finding.category ?? finding.id}`, source: finding.category === "defects" ? "run" : "contract",
      sides: finding.category === "defects" ? { ...asObject(finding.evidence), where: finding.where } : null,
      covers: "audit", severity: finding.severity, passed: finding.severity === "info" ? null : false, seen: `${finding.reason} (${finding.where})` })),
    ...(judged.status === "scored" ? [{ wanted: `Judge: rubric ${judged.rubric}, at least ${judged.pass_score}`, source: "contract", covers: "content",
      severity: "critical", passed: judged.passed, seen: `${judged.score}. ${judged.rationale}` }] : []),
  ];
}
function describeObserved({ passed, kind, observed, reason }) {
  if (passed !== true || observed == null) return reason;
  return kind === "trajectory" ? "the actions agree" : formatJson(observed);
}
function describeBound(outcome, mode) {
  const name = String(outcome.metric).replaceAll("_", " ");
  const limit = outcome.limit;
  if (limit == null || typeof limit === "string") return limit || name;
  if (outcome.metric === "trajectory") return `act as expected${mode ? `, in mode ${mode}` : ""}`;
  const bounds = asObject(limit), parts = [];
  if (bounds.min != null) parts.push(`at least ${bounds.min}`);
  if (bounds.max != null) parts.push(`at most ${bounds.max}`);
  return `${name}: ${parts.join(", ") || formatJson(limit)}`;
}

function drawRequirements(attempts) {
  const groups = new Map();
  for (const attempt of attempts) {
    for (const requirement of listRequirements(attempt)) {
      const key = `${requirement.wanted}\u0000${requirement.quote ?? ""}`;
      if (!groups.has(key)) groups.set(key, { requirement, outcomes: new Map() });
      const { outcomes } = groups.get(key), outcome = `${requirement.passed}\u0000${requirement.seen}`;
      if (!outcomes.has(outcome)) outcomes.set(outcome, { ...requirement, attempts: [] });
      outcomes.get(outcome).attempts.push(attempt);
    }
  }
  if (!groups.size) return element("p", { class: "quiet" }, "Nothing was compared with a requirement.");
  return element("ul", { class: "requirements" }, [...groups.values()].map(({ requirement, outcomes }) => element("li", {},
    block("wanted",
      element("p", {}, requirement.wanted),
      element("p", { class: "quiet" }, requirement.quote ? ["from the words ", element("q", {}, requirement.quote)] : `from the ${requirement.source}`,
        requirement.covers ? ` · ${requirement.covers}` : "", requirement.severity && requirement.severity !== "critical" ? ` · ${requirement.severity}` : "")),
    element("ul", { class: "outcomes" }, [...outcomes.values()].map((outcome) => element("li", {},
      outcomeMark(outcome.passed),
      block("", outcome.sides?.said ? drawSides(outcome.sides) : element("p", {}, outcome.seen),
        outcome.evidence && disclose("Output of the command", () => textBlock(outcome.evidence, "Output of the command")),
        attempts.length > 1 && element("p", { class: "quiet" }, nameAttempts(outcome.attempts, attempts)))))))));
}

// What a run says beside what it did, with their places in the conversation.
function drawSides({ said, seen, where, call }) {
  return element("dl", { class: "evidence" },
    block("", element("dt", {}, "It says"), element("dd", {}, said, span("quiet", ` ${where}`))),
    block("", element("dt", {}, "It did"), element("dd", {}, seen, call ? span("quiet", ` ${call}`) : "")));
}

// By what the three sides of a success are known.
function drawEvidence(attempt) {
  const requirements = listRequirements(attempt), judge = asObject(asObject(attempt.report).judge);
  const count = (names, passed) => requirements.filter((each) => names.includes(each.covers) && each.passed === passed).length;
  const row = (title, names, otherwise) => {
    const [met, missed, open] = [count(names, true), count(names, false), count(names, null)];
    const words = [met && `${countNoun(met, "check")} met`, missed && `${countNoun(missed, "check")} not met`, open && `${countNoun(open, "check")} undecided`];
    const passed = missed ? false : met && !open ? true : null;
    const text = words.filter(Boolean).join(", ") || otherwise;
    return block("", element("dt", {}, title), element("dd", {}, met + missed + open > 0 && outcomeMark(passed), ` ${text}`));
  };
  const judged = asObject(judge.result).status === "scored" ? `judge scored ${judge.result.score}` : judge.called ? "the judge gave no usable answer" : "no judge was asked";
  return element("dl", { class: "evidence" },
    row("Form", ["form"], "not checked"),
    row("Answer", ["content", "response"], attempt.basis === "approved" ? "approved by a person" : "nothing checked it"),
    row("Actions", ["actions", "tool", "trajectory"], "not checked"),
    block("", element("dt", {}, "Judge"), element("dd", {}, judged)));
}

function drawActions(attempt) {
  const { steps, actions } = asObject(attempt.actions);
  if (!asArray(steps).length && !asArray(actions).length) return null;
  const list = (items, draw) => element("ol", { class: "calls" }, items.map((each) => element("li", {}, draw(each))));
  const made = list(actions, drawCall);
  if (!steps.length) return section("Actions", made);
  const side = (title, drawn) => block("side", element("p", { class: "side-label" }, title), drawn);
  return section("Actions", block("sides", side("Expected", list(steps, drawStep)), side("Actual", made)));
}
const drawStep = (step) => (step.any_of ?? [step]).map((each, index) => [index > 0 && element("p", { class: "quiet" }, "or"), drawCall(each)]);
function drawCall(action) {
  const args = asObject(action.args);
  const kind = action.kind && action.kind !== "tool" ? `${action.kind} ` : "";
  return block("call",
    element("p", {}, kind && span("quiet", kind), element("code", { class: "call-name" }, String(action.name ?? "")),
      action.agent && span("quiet", ` by ${action.agent}`), action.target && span("quiet", ` to ${action.target}`)),
    Object.keys(args).length > 0 && element("dl", { class: "arguments" }, Object.entries(args).map(([name, value]) =>
      block("", element("dt", {}, name), element("dd", {}, typeof value === "string" ? value : JSON.stringify(value))))),
    action.args_text != null && element("p", { class: "text" }, String(action.args_text)),
    action.error != null && element("p", { class: "call-error" }, outcomeMark(false), ` ${formatJson(action.error)}`),
    action.result != null && disclose("Result", () => textBlock(formatJson(action.result), `Result of ${action.name}`)));
}

function drawConversation(messages) {
  return element("ol", { class: "messages" }, messages.map((message) => {
    const { role, type, content, ...rest } = asObject(message);
    const parts = typeof content === "string" ? [content] : asArray(content).map((part) => (typeof part === "string" ? part : typeof part?.text === "string" && Object.keys(part).length <= 2 ? part.text : formatJson(part)));
    const others = Object.fromEntries(Object.entries(rest).filter(([, value]) => value != null));
    return element("li", {},
      element("p", { class: "role" }, String(role ?? type ?? "message")),
      parts.map((part) => element("p", { class: "text" }, part)),
      content != null && !parts.length && element("p", { class: "text" }, formatJson(content)),
      Object.keys(others).length > 0 && element("p", { class: "text fields" }, formatJson(others)));
  }));
}
