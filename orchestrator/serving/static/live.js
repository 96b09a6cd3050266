// Writes a line for each event of a run below the page. Texts are never read as markup.
(() => {
  const place = (fields) => {
    const source = fields.record ?? fields;
    const step = Number.isInteger(source.step_index) ? `step ${source.step_index + 1}` : "";
    return source.attempt ? `${step}, attempt ${source.attempt}` : step;
  };
  const verdicts = {
    validated: "accepted", failed: "refused", needs_review: "not judged",
    warning: "kept with a warning", pending_validation: "pending",
  };
  const sentences = {
    RunStarted: () => "the run starts",
    RunResumed: () => "the run goes on",
    Planned: (fields) => `plan: ${fields.plan.length} ${fields.plan.length === 1 ? "step" : "steps"}`,
    Replanned: (fields) => `new plan: ${fields.plan.length} steps`,
    StepStarted: (fields) => `${place(fields)} starts`,
    ToolStarted: (fields) => `${place(fields)} calls ${fields.call.name}`,
    ToolEnded: (fields) => `${place(fields)}: ${fields.call.name} ${fields.call.error ? "failed" : "answered"}`,
    StepExecuted: (fields) => `${place(fields)} was executed`,
    StepJudged: (fields) => `${place(fields)}: ${verdicts[fields.record.status]}`,
    StepRetried: (fields) => `${place(fields)} follows: ${fields.feedback}`,
    RunPaused: () => "the run waits for an answer",
    RunFinished: (fields) => `the run ended: ${fields.status}`,
    RunInterrupted: () => "the run was interrupted",
  };
  const nameCode = (sign) => `[U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
  const showHidden = (text) => text.replace(/(?![\u200c\u200d\ufe0f])[\p{DI}\p{Bidi_C}\u2028\u2029]/gu, nameCode);
  document.addEventListener("htmx:sse:after:message", (event) => {
    const { event: name, data, id } = event.detail.message;
    const list = event.target;
    if (!sentences[name]) return;
    // Another server than before sends all events again.
    const [log] = id.split(".");
    if (list.dataset.log !== log) list.replaceChildren();
    list.dataset.log = log;
    const line = document.createElement("li");
    line.textContent = showHidden(sentences[name](JSON.parse(data)));
    list.append(line);
    list.scrollTop = list.scrollHeight;
  });
})();
