// Writes a line for each event of a run below the page. Texts are never read as markup.
(() => {
  const place = (fields) => `step ${fields.record.step_index + 1}, attempt ${fields.record.attempt}`;
  const verdicts = {
    validated: "accepted", failed: "refused", needs_review: "not judged",
    pending_validation: "pending",
  };
  const sentences = {
    RunStarted: () => "the run starts",
    Planned: (fields) => `plan: ${fields.plan.length} ${fields.plan.length === 1 ? "step" : "steps"}`,
    StepExecuted: (fields) => `${place(fields)} was executed`,
    StepJudged: (fields) => `${place(fields)}: ${verdicts[fields.record.status]}`,
    RunPaused: () => "the run waits for an answer",
    RunFinished: (fields) => `the run ended: ${fields.status}`,
  };
  const nameCode = (sign) => `[U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
  const showHidden = (text) => text.replace(/(?![\u200c\u200d\ufe0f])[\p{DI}\p{Bidi_C}\u2028\u2029]/gu, nameCode);
  document.addEventListener("htmx:sse:after:message", (event) => {
    const { event: name, data } = event.detail.message;
    const list = event.target;
    if (!sentences[name]) return;
    if (name === "RunStarted") list.replaceChildren();  // a new connection sends all events again
    const line = document.createElement("li");
    line.textContent = showHidden(sentences[name](JSON.parse(data)));
    list.append(line);
    list.scrollTop = list.scrollHeight;
  });
})();
