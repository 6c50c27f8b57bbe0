/* global document, EventSource */
// Live pages: the server sends the content whenever it changes. Without this script, loading the page again does the same.
const content = document.querySelector('[data-live]');
const menu = document.getElementById('menu');

function replace(element, markup) {
  const focused = document.activeElement?.id;
  const open = [...element.querySelectorAll('details[open][id]')].map(({ id }) => id);
  element.innerHTML = markup;
  for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

if (content) {
  const events = new EventSource(content.dataset.live);
  events.onmessage = ({ data }) => replace(content, JSON.parse(data));
  events.addEventListener('menu', ({ data }) => replace(menu, JSON.parse(data)));
}
