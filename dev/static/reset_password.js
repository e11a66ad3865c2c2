const form = document.getElementById("reset");
const answer = document.getElementById("answer");
form.code.value = new URLSearchParams(location.search).get("code") ?? "";

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  answer.textContent = "…";
  try {
    const response = await fetch("/api/update-password", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code: form.code.value, new_password: form.new_password.value }),
    });
    answer.textContent = (await response.json()).message;
  } catch {
    answer.textContent = "Layanan tidak menjawab.";
  }
});
