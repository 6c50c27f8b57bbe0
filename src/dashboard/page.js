/* global document, EventSource */
// Live pages: the server sends the content whenever it changes. Without this script, loading the page again does the same.
const content = document.querySelector('[data-live]');

function replace(markup) {
  const focused = document.activeElement?.id;
  content.innerHTML = markup;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

if (content) {
  const events = new EventSource(content.dataset.live);
  events.onmessage = ({ data }) => replace(JSON.parse(data));
}
