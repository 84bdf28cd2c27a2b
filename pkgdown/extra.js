/* The search field and the list of headings of a page. The words of the search come from
   search.js, which tools/site/build.R writes, and lunr finds them. */
document.addEventListener("DOMContentLoaded", function() {
  const field = document.getElementById("search-input");
  const root = field.dataset.searchIndex.replace("search.json", "");

  const headings = document.querySelectorAll("main .section > h2, main .section > h3");
  const contents = document.getElementById("toc");
  if (contents) headings.forEach(function(heading) {
    const id = heading.id || heading.parentElement.id;
    if (!id) return;
    const link = document.createElement("a");
    link.href = "#" + id;
    link.textContent = heading.textContent.trim();
    link.className = "toc-" + heading.tagName.toLowerCase();
    contents.appendChild(link);
  });

  // Names of functions count as a whole and by their parts.
  const index = lunr(function() {
    this.ref("number");
    this.field("title", { boost: 10 });
    this.field("text");
    synfirePages.forEach(function(page, number) {
      const words = page.title + " " + page.title.replace(/_/g, " ");
      this.add({ number: number, title: words, text: page.text });
    }, this);
  });
  const list = document.createElement("ul");
  list.id = "search-results";
  field.after(list);
  field.addEventListener("input", function() {
    list.replaceChildren();
    const words = field.value.trim().split(/\s+/).filter(Boolean);
    if (!words.length) return;
    const found = index.query(function(query) {
      words.forEach(function(word) {
        query.term(lunr.tokenizer(word), { boost: 5 });
        query.term(word.toLowerCase(), { wildcard: lunr.Query.wildcard.TRAILING });
      });
    });
    found.slice(0, 12).forEach(function(hit) {
      const page = synfirePages[hit.ref];
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + page.path;
      link.textContent = page.title;
      item.appendChild(link);
      list.appendChild(item);
    });
    if (!found.length) list.textContent = "Nothing is found.";
  });
  field.form.addEventListener("submit", function(event) { event.preventDefault(); });
});
