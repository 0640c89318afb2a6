// Enhancements only: every page works without this file.
"use strict";

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function onKey(event) {
  const question = document.getElementById("question");
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target === question) {
    question.form.requestSubmit();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) {
    return;
  }
  if (event.key === "/" && question) {
    event.preventDefault();
    question.focus();
  }
  const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const link = rel && document.querySelector(`.pager a[rel="${rel}"]`);
  if (link) {
    link.click();
  }
}

async function copyText(event) {
  const source = event.target.closest("[data-copy]");
  if (!source || !navigator.clipboard) {
    return;
  }
  await navigator.clipboard.writeText(source.dataset.copy);
  source.classList.add("is-copied");
  const words = source.textContent;
  if (source.dataset.copied) {
    source.textContent = source.dataset.copied;
  }
  setTimeout(() => {
    source.classList.remove("is-copied");
    source.textContent = words;
  }, 1500);
}

function showBusy(event) {
  const button = event.target.querySelector(".ask-box button");
  if (button) {
    button.setAttribute("aria-busy", "true");
    button.disabled = true;
    button.textContent = event.target.dataset.busy;
  }
}

function wakeButtons() {
  // also when the browser brings a page back from its cache after "back"
  document.querySelectorAll(".ask-box button[aria-busy]").forEach((button) => window.location.reload());
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", copyText);
document.addEventListener("submit", showBusy);
window.addEventListener("pageshow", (event) => event.persisted && wakeButtons());
if (navigator.clipboard) {
  document.querySelectorAll("button[data-copy]").forEach((button) => { button.hidden = false; });
}
