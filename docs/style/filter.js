// A search field shows only the rows of a table that have all its words.
document.addEventListener("DOMContentLoaded", () => {
  for (const field of document.querySelectorAll("input[data-filters]")) {
    const rows = document.querySelectorAll(`${field.dataset.filters} tbody tr`);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
  }
});
