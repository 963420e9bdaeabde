// A button on each block of code copies the code. For a session with prompts, the button copies only the commands.
"use strict";

function commandsOf(code) {
  const lines = code.replace(/\n$/, "").split("\n");
  if (!lines.some((line) => line.startsWith("$ "))) return lines.join("\n");
  let goesOn = false;
  const typed = lines.filter((line) => {
    const isTyped = goesOn || line.startsWith("$ ");
    goesOn = isTyped && line.endsWith("\\");
    return isTyped;
  });
  return typed.map((line) => line.replace(/^\$ /, "")).join("\n");
}

document.addEventListener("DOMContentLoaded", () => {
  for (const pre of document.querySelectorAll("article div.highlight pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the code");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(commandsOf(pre.textContent));
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    pre.after(button);
  }
});
